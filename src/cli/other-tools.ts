/** Commands of Terraform, DNSControl and others that Tenon has not, each with what to use instead. */

/** The command → the advice, in sentences; or by the word after it, `""` for none that is known. */
const WORDS: Readonly<Record<string, string | Readonly<Record<string, string>>>> = {
  // Terraform and OpenTofu.
  console: "tenon show --expanded shows what variables and functions come to.",
  "force-unlock": "There is no state and no lock: two applies at once leave one of each object.",
  get: "There are no modules to fetch: `files:` names further manifests, inside the project. tenon list shows the account.",
  graph: "tenon plan --format json has the steps and what each waits for: jq '.tenon.steps[] | {id, after}'.",
  login: "Set TENON_TOKEN, or name a file with --token-file.",
  logout: "Nothing is kept: unset TENON_TOKEN.",
  modules: "There are no modules: record sets, defaults and lists of domains are for what repeats.",
  providers: "There is one service: --base-url and --service say where it is.",
  refresh: "Every plan reads the account anew: tenon drift says what differs.",
  state: {
    "": "There is no state file: the account itself is what a plan is compared with. tenon list shows it, tenon show ADDRESS one object.",
    list: "There is no state file: tenon list --whose here shows what the account has of the project.",
    show: "There is no state file: tenon show ADDRESS shows an object beside its declaration.",
    mv: "There is no state file: `moved_from: old-label` on the entry renames the object.",
    rm: "There is no state file: under `removed`, `destroy: false` lets an object go without deleting it.",
    pull: "There is no state file: tenon live --out FILE writes a snapshot of the account.",
    push: "There is no state file, so there is nothing to push.",
  },
  taint:
    "Nothing marks an object to be made anew: declare another one beside it, under its own label, and remove the old entry.",
  test: "tenon plan against tenon emulate tests a project without an account.",
  untaint: "Nothing is ever marked to be made anew.",
  workspace:
    "`environments:` in the root file are in their place, and --env chooses one; TENON_ACCOUNT and `account:` tell accounts apart.",
  // DNSControl.
  check: "tenon validate checks the manifests; tenon zone check --live asks the name servers.",
  "check-creds": "tenon list asks the service with the token.",
  "create-domains": "tenon apply creates the domains that are declared.",
  "get-certs": "Certificates are another tool's: `ignore: [{ preset: acme }]` leaves its records alone.",
  "get-zones": "tenon import --out DIR writes the account as a project, tenon zone export NAME a zone file.",
  ppreview: "tenon plan shows what would change; it reads all zones at the same time.",
  ppush: "tenon apply makes the changes, several at a time (--concurrency).",
  preview: "tenon plan shows what would change.",
  "print-ir": "tenon show --expanded --format json prints what the manifests come down to.",
  push: "tenon apply makes the changes, after asking.",
  "shell-completion": "tenon completion bash, zsh, fish or powershell.",
  "write-types": "The first line of a manifest names its schema, for editors; tenon explain shows its fields.",
  // octoDNS, Pulumi, kubectl.
  delete:
    "Take the entry out of the manifest, or name it under `removed`, and apply. tenon destroy deletes all that is declared.",
  describe: "tenon show ADDRESS shows an object beside its declaration.",
  "octodns-compare": "tenon zone check --live compares what is declared with what name servers answer.",
  "octodns-dump": "tenon import --out DIR writes the account as a project.",
  "octodns-report": "tenon zone check --live asks the name servers.",
  "octodns-sync": "tenon plan shows what would change, tenon apply does it.",
  "octodns-validate": "tenon validate checks the manifests.",
  diff: "tenon plan shows what would change, tenon drift what differs.",
  down: "tenon destroy deletes what is declared.",
  dump: "tenon import --out DIR writes the account as a project.",
  sync: "tenon apply makes the account fit the manifests.",
  up: "tenon apply makes the account fit the manifests.",
};

/** @param words the arguments without flags: the command, and what follows it. @returns null if nobody is known to have such a command */
export function adviceInstead([command = "", next = ""]: readonly string[]): string | null {
  const advice = Object.hasOwn(WORDS, command) ? WORDS[command] : undefined;
  if (advice === undefined || typeof advice === "string") return advice ?? null;
  return (Object.hasOwn(advice, next) ? advice[next] : advice[""]) ?? null;
}
