/**
 * GitLab's side of the pipeline: one note, one issue, and the reviewed plan. Node alone, nothing to install.
 *
 *   gitlab.mjs note FILE           writes FILE as a note of the merge request, or over it
 *   gitlab.mjs reviewed-plan FILE  fetches the plan of the merge request that was merged as $CI_COMMIT_SHA
 *   gitlab.mjs issue FOLDER        opens, updates or closes the drift issue after drift.sh
 *
 * TENON_GITLAB_TOKEN is a project access token with the scope `api` and the role Reporter.
 */

import { readFile, writeFile } from "node:fs/promises";

const { env } = process;
const PLAN_JOB = "tenon:plan";
const PLAN_FILE = "tenon-out/plan.json";
const DRIFT_LABEL = "tenon-drift";
const DRIFT_MARKER = "<!-- tenon-drift -->";
const PAGE_SIZE = 100;
const MAX_PAGES = 50;
const TIMEOUT_MILLISECONDS = 30_000;
const PROJECT = `/projects/${encodeURIComponent(env.CI_PROJECT_ID ?? "")}`;

const commands = { note, "reviewed-plan": reviewedPlan, issue };

async function note(file) {
  const body = await readFile(file, "utf8");
  const marker = firstLine(body);
  const all = `${PROJECT}/merge_requests/${number(env.CI_MERGE_REQUEST_IID)}/notes`;
  const me = await json("GET", "/user");
  // Anybody can write the marker; only a note of this token's own is ours to change.
  const ours = await findIn(all, (item) => item.author?.id === me.id && firstLine(item.body) === marker);
  if (ours === undefined) await json("POST", all, { body });
  else await json("PUT", `${all}/${ours.id}`, { body });
}

async function reviewedPlan(file) {
  const sha = env.CI_COMMIT_SHA;
  const requests = await json("GET", `${PROJECT}/repository/commits/${sha}/merge_requests`);
  const merged = requests.find(
    (request) =>
      request.state === "merged" && [request.merge_commit_sha, request.squash_commit_sha, request.sha].includes(sha),
  );
  if (merged === undefined) return refuse(`${sha} is not the merge of a merge request`);
  const job = await planJob(merged);
  if (job === undefined) return refuse(`merge request !${merged.iid} has no successful ${PLAN_JOB}`);
  const response = await send("GET", `${PROJECT}/jobs/${job.id}/artifacts/${PLAN_FILE}`);
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
}

/** The newest one of what was merged. A fork's pipeline runs in the fork: it is not among this project's. */
async function planJob(merged) {
  const pipelines = await json("GET", `${PROJECT}/merge_requests/${merged.iid}/pipelines`);
  const own = pipelines.filter(
    (pipeline) => pipeline.sha === merged.sha && String(pipeline.project_id) === env.CI_PROJECT_ID,
  );
  for (const { id } of own.sort((a, b) => b.id - a.id)) {
    const jobs = await json("GET", `${PROJECT}/pipelines/${id}/jobs?scope[]=success&per_page=${PAGE_SIZE}`);
    const found = jobs.find((job) => job.name === PLAN_JOB);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Fails the job: what nobody reviewed is not applied. */
function refuse(why) {
  process.stderr.write(`No reviewed plan: ${why}. Run a pipeline on the default branch by hand: it plans anew.\n`);
  process.exitCode = 1;
}

async function issue(folder) {
  const isDrift = (await readFile(`${folder}/state`, "utf8")).trim() === "drift";
  const me = await json("GET", "/user");
  const isOurs = (item) => item.author?.id === me.id && firstLine(item.description) === DRIFT_MARKER;
  const open = await findIn(`${PROJECT}/issues?state=opened&labels=${DRIFT_LABEL}`, isOurs);
  if (!isDrift) {
    if (open !== undefined) await json("PUT", `${PROJECT}/issues/${open.iid}`, { state_event: "close" });
    return;
  }
  const description = `${DRIFT_MARKER}\n${await readFile(`${folder}/drift.md`, "utf8")}`;
  if (open !== undefined) await json("PUT", `${PROJECT}/issues/${open.iid}`, { description });
  else {
    const title = "The account is not as declared";
    await json("POST", `${PROJECT}/issues`, { title, description, labels: DRIFT_LABEL, confidential: true });
  }
}

/** The first item of a list, over all its pages, that fits. */
async function findIn(path, fits) {
  const separator = path.includes("?") ? "&" : "?";
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const items = await json("GET", `${path}${separator}per_page=${PAGE_SIZE}&page=${page}`);
    const found = items.find(fits);
    if (found !== undefined || items.length < PAGE_SIZE) return found;
  }
  return undefined;
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
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

function firstLine(text) {
  return (text ?? "").split("\n", 1)[0].trimEnd();
}

/** What becomes part of a path is a number, or nothing. */
function number(text) {
  if (!/^\d+$/.test(text ?? "")) throw new Error(`not a number: ${text}`);
  return text;
}

const [name, argument] = process.argv.slice(2);
const command = Object.hasOwn(commands, name ?? "") ? commands[name] : undefined;
if (command === undefined) throw new Error(`one of: ${Object.keys(commands).join(", ")}`);
await command(argument);
