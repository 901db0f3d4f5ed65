/** The one script of a page. Without it the page shows everything, and cannot be searched. */

import { startFilters } from "./filters.ts";
import { startKeyboard } from "./keyboard.ts";
import { startLinks } from "./links.ts";
import { startLive } from "./live.ts";
import { startPictures } from "./pictures.ts";

const filters = startFilters();
startKeyboard(filters);
startLinks(filters);
startPictures();
startLive(filters);
