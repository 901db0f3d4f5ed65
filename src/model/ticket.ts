/** Support tickets and the replies to them (API.md, Support ticket, Ticket reply). */

/** The fields of API.md under its names. What the service leaves out is empty. */
export interface Ticket {
  readonly id: number;
  readonly summary: string;
  readonly description: string;
  /** `new`, `open` or `closed`. */
  readonly status: string;
  readonly closable: boolean;
  readonly opened: string;
  readonly opened_by: string;
  readonly updated: string;
  readonly updated_by: string | null;
  readonly closed: string | null;
  /** Names of files. */
  readonly attachments: readonly string[];
  readonly entity: TicketEntity | null;
}

/** What a ticket is about. */
export interface TicketEntity {
  readonly id: number;
  readonly label: string;
  readonly type: string;
  readonly url: string;
}

export interface TicketReply {
  readonly id: number;
  readonly created: string;
  readonly created_by: string;
  readonly description: string;
  /** An employee of the operator wrote it (the API's own name). */
  readonly from_linode: boolean;
}
