/**
 * The pipeline's requests to GitLab: writes one note and one issue, and fetches the reviewed plan. Needs only Node.
 *
 *   gitlab.mjs note                writes the comment of this pipeline's plan job as a note of the merge request, or updates that note,
 *                                  if the pipeline is of the newest commit
 *   gitlab.mjs reviewed-plan FILE  fetches the plan of the merge request that was merged as $CI_COMMIT_SHA, or of this pipeline if it was started by hand
 *   gitlab.mjs issue FOLDER        opens, updates or closes the drift issue after drift.sh
 *
 * Artifacts are fetched from GitLab by the number of their job, because a file of the checkout may have any name.
 * TENON_GITLAB_TOKEN is a project access token with the scope `api` and the role Developer.
 */

import { constants } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";

const { env } = process;
const PLAN_JOB = "tenon:plan";
const REPLAN_JOB = "tenon:replan";
const PLAN_FILE = "tenon-out/plan.json";
const COMMENT_FILE = "tenon-out/comment.md";
const DRIFT_LABEL = "tenon-drift";
const DRIFT_MARKER = "<!-- tenon-drift -->";
const PAGE_SIZE = 100;
const MAX_PAGES = 50;
const MAX_LIST_PAGES = 10;
const MAX_PIPELINES_OF_COMMIT = 50;
const TIMEOUT_MILLISECONDS = 30_000;
const PROJECT = `/projects/${encodeURIComponent(env.CI_PROJECT_ID ?? "")}`;

const commands = { note, "reviewed-plan": reviewedPlan, issue };

async function note() {
  const job = await jobOf(env.CI_PIPELINE_ID, PLAN_JOB, ["success", "failed"]);
  if (job === undefined) throw new Error(`this pipeline has no ${PLAN_JOB}`);
  const body = (await kept(job, COMMENT_FILE)).toString();
  const marker = firstLine(body);
  const request = `${PROJECT}/merge_requests/${number(env.CI_MERGE_REQUEST_IID)}`;
  // In a pipeline for merged results, CI_COMMIT_SHA is the merge.
  const planned = env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA;
  const { sha } = await json("GET", request);
  // Anybody who pushes can retry the job of an older pipeline. Its plan must not take the place of the newest one.
  if (sha !== planned) return fail(`the merge request has newer commits than ${planned}, so the note stays as it is`);
  const all = `${request}/notes`;
  const me = await json("GET", "/user");
  // Anybody can write the marker, so the author must be the user of this token.
  const ours = await findIn(all, (item) => item.author?.id === me.id && firstLine(item.body) === marker);
  if (ours === undefined) await json("POST", all, { body });
  else await json("PUT", `${all}/${ours.id}`, { body });
}

async function reviewedPlan(file) {
  if (env.CI_PIPELINE_SOURCE === "web") {
    const job = await jobOf(env.CI_PIPELINE_ID, REPLAN_JOB, ["success"]);
    if (job === undefined) return refuse(`this pipeline has no successful ${REPLAN_JOB}`);
    return writeFile(file, await kept(job, PLAN_FILE), { flag: "wx" });
  }
  const sha = env.CI_COMMIT_SHA;
  const requests = await readAll(`${PROJECT}/repository/commits/${sha}/merge_requests`);
  if (requests === undefined) return refuse(unread(`the merge requests of ${sha}`));
  const [merged, second] = requests.filter(
    (request) =>
      request.state === "merged" &&
      // The same commit may also be a merge into a branch of the author, where nobody reviews.
      request.target_branch === env.CI_COMMIT_BRANCH &&
      [request.merge_commit_sha, request.squash_commit_sha, request.sha].includes(sha),
  );
  if (merged === undefined) return refuse(`${sha} is not the merge of a merge request`);
  // A merge request that contains the commits of another one merges both. Perhaps only one of the two plans was reviewed.
  if (second !== undefined) return refuse(`several merge requests were merged as ${sha}, and one was reviewed`);
  const pipelines = await readAll(`${PROJECT}/merge_requests/${number(String(merged.iid))}/pipelines`);
  if (pipelines === undefined) return refuse(unread(`the pipelines of !${merged.iid}`));
  const jobs = await planJobs(merged, pipelines);
  if (jobs === undefined) return refuse(`the pipelines of ${merged.sha} are too many to be read`);
  const [job, another] = jobs;
  if (job === undefined) return refuse(`merge request !${merged.iid} has no successful ${PLAN_JOB}`);
  // Anybody who pushes can retry a job or start a pipeline, also after the review. The note shows one of the plans.
  if (another !== undefined) return refuse(`${PLAN_JOB} of !${merged.iid} planned ${merged.sha} more than once`);
  await writeFile(file, await kept(job, PLAN_FILE), { flag: "wx" });
}

/**
 * Returns the successful plan jobs of all pipelines of the merged commit. A fork's pipeline runs in the fork, so this project's list does not
 * have it.
 * @returns undefined if there are too many of them
 */
async function planJobs(merged, pipelines) {
  const own = pipelines.filter(
    (pipeline) =>
      pipeline.sha === merged.sha &&
      pipeline.source === "merge_request_event" &&
      String(pipeline.project_id) === env.CI_PROJECT_ID,
  );
  if (own.length > MAX_PIPELINES_OF_COMMIT) return undefined;
  const found = [];
  for (const { id } of own) {
    const jobs = await readAll(`${PROJECT}/pipelines/${number(id)}/jobs?scope[]=success&include_retried=true`);
    if (jobs === undefined) return undefined;
    found.push(...jobs.filter((job) => job.name === PLAN_JOB));
  }
  return found;
}

async function jobOf(pipeline, name, states) {
  const scope = states.map((state) => `scope[]=${state}`).join("&");
  return findIn(`${PROJECT}/pipelines/${number(pipeline)}/jobs?${scope}`, (job) => job.name === name);
}

/** Fetches one file of a job's artifacts. */
async function kept(job, path) {
  const response = await send("GET", `${PROJECT}/jobs/${number(job.id)}/artifacts/${path}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Fails the job, because nobody has reviewed a plan of the commit. */
function refuse(why) {
  fail(`No reviewed plan: ${why}. Run a pipeline on the default branch by hand: it plans anew.`);
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}

function unread(list) {
  return `${list} are more than ${MAX_LIST_PAGES * PAGE_SIZE}, which is not read`;
}

async function issue(folder) {
  const isDrift = (await readKept(`${folder}/state`)).trim() === "drift";
  const me = await json("GET", "/user");
  const isOurs = (item) => item.author?.id === me.id && firstLine(item.description) === DRIFT_MARKER;
  const open = await findIn(`${PROJECT}/issues?state=opened&labels=${DRIFT_LABEL}`, isOurs);
  if (!isDrift) {
    if (open !== undefined) await json("PUT", `${PROJECT}/issues/${open.iid}`, { state_event: "close" });
    return;
  }
  const description = `${DRIFT_MARKER}\n${await readKept(`${folder}/drift.md`)}`;
  if (open !== undefined) await json("PUT", `${PROJECT}/issues/${open.iid}`, { description });
  else {
    const title = "The account is not as declared";
    await json("POST", `${PROJECT}/issues`, { title, description, labels: DRIFT_LABEL, confidential: true });
  }
}

/**
 * Reads all pages of a list: only the whole list shows whether an item is the only one, and other people can make the list longer.
 * @returns undefined if the list has too many pages
 */
async function readAll(path) {
  const read = [];
  for (let page = 1; page <= MAX_LIST_PAGES; page += 1) {
    const { items, isLast } = await readPage(path, page);
    read.push(...items);
    if (isLast) return read;
  }
  return undefined;
}

/** Returns the first item that fits, over all pages of the list. */
async function findIn(path, fits) {
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { items, isLast } = await readPage(path, page);
    const found = items.find(fits);
    if (found !== undefined || isLast) return found;
  }
  return undefined;
}

async function readPage(path, page) {
  const response = await send("GET", `${path}${path.includes("?") ? "&" : "?"}per_page=${PAGE_SIZE}&page=${page}`);
  // The header has the number of the next page; it is empty on the last page.
  return { items: await response.json(), isLast: (response.headers.get("x-next-page") ?? "") === "" };
}

async function json(method, path, body) {
  const response = await send(method, path, body);
  return response.json();
}

async function send(method, path, body) {
  const response = await fetch(`${env.CI_API_V4_URL}${path}`, {
    method,
    headers: { "content-type": "application/json", "private-token": env.TENON_GITLAB_TOKEN ?? "" },
    body: body === undefined ? null : JSON.stringify(body),
    // A redirect would send the header with the token to another host.
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** Reads a file that a script wrote. A link could show another file of this machine, so links are refused. */
function readKept(file) {
  return readFile(file, { encoding: "utf8", flag: constants.O_RDONLY | constants.O_NOFOLLOW });
}

function firstLine(text) {
  return (text ?? "").split("\n", 1)[0].trimEnd();
}

/** Checks an id before it becomes part of a path. */
function number(text) {
  if (!/^\d+$/.test(text ?? "")) throw new Error(`not a number: ${text}`);
  return text;
}

const [name, argument] = process.argv.slice(2);
const command = Object.hasOwn(commands, name ?? "") ? commands[name] : undefined;
if (command === undefined) throw new Error(`one of: ${Object.keys(commands).join(", ")}`);
await command(argument);
