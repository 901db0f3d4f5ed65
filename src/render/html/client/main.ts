/** The one script of a page, begun when the page is there. Without it the page shows everything and can do less. */

import { startPictures } from "./pictures.ts";

startPictures();
