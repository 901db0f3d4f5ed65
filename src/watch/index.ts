/** Watch (`tenon/watch`): looks for drift again and again, posts what is new to a webhook, and answers `/healthz` and `/metrics`. */

export type { WatchNews } from "../model/change.ts";
export type { Clock } from "../model/clock.ts";
export {
  type Answer,
  type HttpOptions,
  type Metric,
  metricsText,
  type Sample,
  type StreamAnswer,
  serveHttp,
  type WatchServer,
} from "./http.ts";
export { type ServeOptions, serveWatch } from "./server.ts";
export { type Look, type WatchOptions, WatchStatus, watchDrift } from "./watch.ts";
export { checkWebhookUrl, openWebhook, type Webhook } from "./webhook.ts";
