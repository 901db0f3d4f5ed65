/** The 30 % rule (`bulk`): how much of what is in a live object, of a zone's records or a VPC's subnets, may go without consent. */

const BULK_LIMIT_PERCENT = 30;

/** @param least a share of fewer says nothing */
export function isBulk(count: number, of: number, least: number): boolean {
  return of >= least && count * 100 > of * BULK_LIMIT_PERCENT;
}
