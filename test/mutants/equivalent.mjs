/**
 * Changes of the source that nobody could notice: they are not drawn. An entry names its `file`, the very `code` that is changed, the
 * `name` of the change as the run prints it, and the `reason`.
 */

export const EQUIVALENT = [];
