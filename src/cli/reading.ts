/** The sessions of `plan` and `drift`, which change nothing: a snapshot may stand in the service's place, and a base beside the project. */

import { checkAccount, type Diagnostic, type Project, type Snapshot, snapshotTools } from "../index.ts";
import type { PlanFlags } from "./args.ts";
import { openBase } from "./base.ts";
import { withClient } from "./client.ts";
import { needDialect } from "./connection.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { sayDiagnostics, sayError } from "./messages.ts";
import { accountOf, type Moment, type PlanSession } from "./planning.ts";
import { openProject } from "./project.ts";
import { openSnapshotFile } from "./snapshot.ts";
import type { Terminal } from "./terminal.ts";

export interface ReadingFlags extends PlanFlags {
  /** A snapshot to plan against. */
  readonly live?: string;
  /** A git ref or a folder to compare with. */
  readonly base?: string;
  /** What `tenon destroy` would do. */
  readonly destroy?: boolean;
}

type Opened<T> = { readonly ok: true; readonly opened: T } | { readonly ok: false; readonly code: ExitCode };

/** What is known of the service before it is asked anything. */
interface Source {
  readonly snapshot: Snapshot | null;
  readonly dialect: string;
  readonly moment: Moment | null;
}

/** Opens snapshot, project, base and connection, in this order, and hands them to `work`. */
export async function inReading(
  terminal: Terminal,
  directory: string | undefined,
  flags: ReadingFlags,
  work: (session: PlanSession) => Promise<ExitCode>,
): Promise<ExitCode> {
  const found = await openSource(terminal, flags);
  if (!found.ok) return found.code;
  const { snapshot, dialect, moment } = found.opened;
  const loaded = await openProject(terminal, directory, flags, dialect);
  if (!loaded.ok) return loaded.code;
  const { project } = loaded;
  const refusal = checkAccount(project.desired, moment === null ? accountOf(terminal) : moment.account);
  if (refusal !== null) return refuse(terminal, refusal, project);
  const base =
    flags.base === undefined ? null : await openBase(terminal, { name: flags.base, project, flags, dialect });
  if (base?.ok === false) return base.code;
  const session = {
    project,
    terminal,
    flags,
    goal: flags.destroy === true ? ("destroy" as const) : ("apply" as const),
    ...(base === null || base.base === null ? {} : { base: base.base }),
    warnings: base?.base === null ? [base.warning] : [],
    ...(moment === null ? {} : { moment }),
  };
  if (snapshot === null) return withClient(terminal, flags, (api, { token }) => work({ ...session, api, token }));
  const { openSnapshot } = await snapshotTools();
  return work({ ...session, api: openSnapshot(snapshot) });
}

async function openSource(terminal: Terminal, flags: ReadingFlags): Promise<Opened<Source>> {
  const dialect = needDialect(terminal, flags);
  if (dialect === null) return { ok: false, code: EXIT.error };
  if (flags.live === undefined) return { ok: true, opened: { snapshot: null, dialect, moment: null } };
  const read = await openSnapshotFile(terminal, flags.live, Date.now());
  if (!read.ok) return read;
  const { snapshot } = read;
  if ((flags.dialect ?? "") !== "" && dialect !== snapshot.dialect) {
    const summary = `the snapshot is of a service that says ${snapshot.dialect}, and not ${dialect}`;
    const fix = "Leave --dialect and TENON_DIALECT out: the snapshot knows.";
    sayError(terminal, { code: "snapshot-of-others", summary, fix });
    return { ok: false, code: EXIT.error };
  }
  const account = accountOf(terminal);
  if (account !== null && snapshot.account !== null && account !== snapshot.account) {
    const summary = `the snapshot is of the account ${snapshot.account}, and TENON_ACCOUNT is ${account}`;
    sayError(terminal, { code: "snapshot-of-others", summary, fix: "Take the snapshot of the right account." });
    return { ok: false, code: EXIT.refused };
  }
  // As it was then: what depends on time is the same however often, and whenever, it is planned.
  const moment = { nowMilliseconds: Date.parse(snapshot.readAt), account: snapshot.account ?? account };
  return { ok: true, opened: { snapshot, dialect: snapshot.dialect, moment } };
}

function refuse(terminal: Terminal, diagnostic: Diagnostic, { sources }: Project): ExitCode {
  sayDiagnostics(terminal, [diagnostic], sources);
  return EXIT.refused;
}
