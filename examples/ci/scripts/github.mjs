/**
 * The pipeline's requests to GitHub: writes one comment and one issue, and finds the reviewed plan. Needs only Node.
 *
 *   github.mjs comment FILE    writes FILE as the comment of pull request $PULL_REQUEST, or updates that comment, if $HEAD is its newest commit
 *   github.mjs newest          fails if the run is started again (RUN_ATTEMPT) and its branch has newer commits than $GITHUB_SHA
 *   github.mjs plan-run        outputs run-id=… of the run that planned the pull request merged as $GITHUB_SHA, and artifact-id=… of its plan
 *   github.mjs snapshot-run    outputs the same for the newest snapshot of the account; an empty run-id if there is none
 *   github.mjs visibility      outputs private=true or private=false
 *   github.mjs issue FOLDER    opens, updates or closes the drift issue after drift.sh
 */

import { constants } from "node:fs";
import { appendFile, readFile } from "node:fs/promises";

const { env } = process;
const BOT = "github-actions[bot]";
const PLAN_WORKFLOW = "tenon-plan.yml";
const SNAPSHOT_WORKFLOW = "tenon-drift.yml";
/** How that workflow starts. Nobody starts a run of a default branch so from a fork or a pull request. */
const SNAPSHOT_EVENTS = ["schedule", "workflow_dispatch"];
const PLAN = "tenon-plan";
const SNAPSHOT = "tenon-snapshot";
const DRIFT_LABEL = "tenon-drift";
const DRIFT_MARKER = "<!-- tenon-drift -->";
const PAGE_SIZE = 100;
const MAX_PAGES = 50;
const MAX_LIST_PAGES = 10;
const BY_HAND = "Run this workflow by hand: it plans anew, and waits for approval.";
const TIMEOUT_MILLISECONDS = 30_000;

const commands = { comment, newest, "plan-run": planRun, "snapshot-run": snapshotRun, visibility, issue };

async function comment(file) {
  if (!/^[0-9a-f]{40,}$/.test(env.HEAD ?? ""))
    throw new Error("HEAD is no commit: tenon-plan.yml is older than this script");
  const body = await readKept(file);
  const marker = body.slice(0, body.indexOf("\n"));
  const pull = number(env.PULL_REQUEST);
  const { head } = await send("GET", `/pulls/${pull}`);
  // Anybody who pushes can start the run of an older commit again. Its plan must not take the place of the newest one.
  if (head.sha !== env.HEAD) {
    return fail("An older commit", `#${pull} has newer commits than ${env.HEAD}, so the comment stays as it is`);
  }
  const all = `/issues/${pull}/comments`;
  // Anybody can write the marker, so the author must be the bot.
  const ours = await findIn(all, ({ user, body }) => user?.login === BOT && firstLine(body) === marker);
  if (ours === undefined) await send("POST", all, { body });
  else await send("PATCH", `/issues/comments/${ours.id}`, { body });
}

/** The first run of a commit may wait while others are merged; one that is started again would undo what they have applied. */
async function newest() {
  if (env.RUN_ATTEMPT === "1") return;
  const branch = env.GITHUB_REF_NAME.split("/").map(encodeURIComponent).join("/");
  const { object } = await send("GET", `/git/ref/heads/${branch}`);
  if (object.sha === env.GITHUB_SHA) return;
  fail("An older commit", `${env.GITHUB_REF_NAME} has newer commits than ${env.GITHUB_SHA}. ${BY_HAND}`);
}

async function planRun() {
  const sha = env.GITHUB_SHA;
  const pulls = await readAll(`/commits/${sha}/pulls`, (answer) => answer);
  if (pulls === undefined) return refuse(unread(`the pull requests of ${sha}`));
  // The same commit may also be a merge into a branch of the author, where nobody reviews.
  const isHere = (pull) => pull.merge_commit_sha === sha && pull.base.ref === env.GITHUB_REF_NAME;
  const [merged, second] = pulls.filter((pull) => pull.merged_at !== null && isHere(pull));
  if (merged === undefined) return refuse(`${sha} is not the merge of a pull request`);
  // A pull request that contains the commits of another one merges both. Perhaps only one of the two plans was reviewed.
  if (second !== undefined) return refuse(`several pull requests were merged as ${sha}, and one was reviewed`);
  const query = new URLSearchParams({ event: "pull_request", status: "success", head_sha: merged.head.sha });
  const runs = await readAll(`/actions/workflows/${PLAN_WORKFLOW}/runs?${query}`, (answer) => answer.workflow_runs);
  if (runs === undefined) return refuse(unread(`the runs of ${PLAN_WORKFLOW} for #${merged.number}`));
  // A fork's run has no token, so its artifact cannot be a plan of the account.
  const own = runs.filter((run) => run.head_repository?.full_name === env.GITHUB_REPOSITORY);
  const [run, another] = own;
  if (run === undefined) return refuse(`pull request #${merged.number} has no successful run of ${PLAN_WORKFLOW}`);
  // A workflow of another base branch may have planned the same commit, and nobody has reviewed that plan here.
  if (another !== undefined) return refuse(`several runs have planned #${merged.number}, and one was reviewed`);
  const all = await readAll(`/actions/runs/${number(run.id)}/artifacts?name=${PLAN}`, (answer) => answer.artifacts);
  if (all === undefined) return refuse(unread(`what run ${run.id} has kept`));
  const [plan] = all.filter(({ name, expired }) => name === PLAN && !expired);
  if (plan === undefined) return refuse(`the plan of pull request #${merged.number} is kept no more`);
  await found(run.id, plan.id);
}

/** Fails the job, because nobody has reviewed a plan of the commit. */
function refuse(why) {
  fail("No reviewed plan", `${why}. ${BY_HAND}`);
}

function fail(title, text) {
  process.stdout.write(`::error title=${title}::${text}\n`);
  process.exitCode = 1;
}

function unread(list) {
  return `${list} cannot be read whole: they are ${MAX_LIST_PAGES * PAGE_SIZE} or more, or changed meanwhile`;
}

async function snapshotRun() {
  const { default_branch: branch, id } = await send("GET", "");
  const artifacts = await readAll(`/actions/artifacts?name=${SNAPSHOT}`, (answer) => answer.artifacts);
  if (artifacts === undefined) {
    return fail("No snapshot", `${unread(`the artifacts called ${SNAPSHOT}`)}. Delete those of pull requests.`);
  }
  // A pull request can upload an artifact with any name.
  const ours = artifacts.filter(
    ({ expired, workflow_run: run }) => !expired && run?.head_branch === branch && run.head_repository_id === id,
  );
  // Another workflow of the default branch can upload one, too: one that somebody starts by a comment, for example.
  const runs = ours.length === 0 ? new Set() : await snapshotRuns(branch);
  const [newest] = ours.filter((artifact) => runs.has(artifact.workflow_run.id)).sort((a, b) => b.id - a.id);
  if (newest === undefined) await output("run-id", "");
  else await found(newest.workflow_run.id, newest.id);
}

/** Returns the numbers of the newest runs that take snapshots: a hundred of each event, and no snapshot is older than they are. */
async function snapshotRuns(branch) {
  const runs = new Set();
  for (const event of SNAPSHOT_EVENTS) {
    const query = new URLSearchParams({ branch, event, per_page: String(PAGE_SIZE) });
    const answer = await send("GET", `/actions/workflows/${SNAPSHOT_WORKFLOW}/runs?${query}`);
    for (const { id } of answer.workflow_runs) runs.add(id);
  }
  return runs;
}

async function visibility() {
  const repository = await send("GET", "");
  await output("private", repository.private === true);
}

async function issue(folder) {
  const isDrift = (await readKept(`${folder}/state`)).trim() === "drift";
  const isOurs = (item) => item.user?.login === BOT && firstLine(item.body) === DRIFT_MARKER;
  const open = await findIn(`/issues?state=open&labels=${DRIFT_LABEL}`, isOurs);
  if (!isDrift) {
    if (open === undefined) return;
    await send("POST", `/issues/${open.number}/comments`, { body: "The account is as declared again." });
    await send("PATCH", `/issues/${open.number}`, { state: "closed", state_reason: "completed" });
    return;
  }
  const body = `${DRIFT_MARKER}\n${await readKept(`${folder}/drift.md`)}`;
  if (open !== undefined) await send("PATCH", `/issues/${open.number}`, { body });
  else await send("POST", "/issues", { title: "The account is not as declared", body, labels: [DRIFT_LABEL] });
}

/**
 * Reads all pages of a list: only the whole list shows whether an item is the only one, or the newest, and other people can make the list longer.
 * @returns undefined if the list has too many pages, or changed during the reading, so that an item may have moved to a page that was read before
 */
async function readAll(path, itemsOf) {
  const read = new Map();
  let total = 0;
  for (let page = 1; page <= MAX_LIST_PAGES; page += 1) {
    const answer = await readPage(path, page);
    const items = itemsOf(answer);
    for (const item of items) read.set(item.id, item);
    total = Math.max(total, answer.total_count ?? 0);
    if (items.length < PAGE_SIZE) return read.size < total ? undefined : [...read.values()];
  }
  return undefined;
}

/** Returns the first item that fits, over all pages of the list. */
async function findIn(path, fits) {
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const items = await readPage(path, page);
    const found = items.find(fits);
    if (found !== undefined || items.length < PAGE_SIZE) return found;
  }
  return undefined;
}

function readPage(path, page) {
  return send("GET", `${path}${path.includes("?") ? "&" : "?"}per_page=${PAGE_SIZE}&page=${page}`);
}

async function send(method, path, body) {
  const response = await fetch(`${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}${path}`, {
    method,
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${env.GITHUB_TOKEN}`,
      "x-github-api-version": "2022-11-28",
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
  });
  // JSON keeps the text on one line: GitHub executes some lines of a log.
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(await response.text())}`);
  return response.json();
}

/** Outputs an artifact's number. Every run can use the artifact's name, but no later upload gets its number. */
async function found(run, artifact) {
  await output("run-id", number(run));
  await output("artifact-id", number(artifact));
}

/** Refuses other characters: a value with a line break would set other outputs. */
function output(name, value) {
  if (!/^[\w-]*$/.test(value)) throw new Error(`no value of an output: ${JSON.stringify(value)}`);
  return appendFile(env.GITHUB_OUTPUT, `${name}=${value}\n`);
}

/** Reads a file of an artifact. A link could show another file of this machine, so links are refused. */
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
