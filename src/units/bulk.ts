/** The 30 % rule (`bulk`): the largest share of a zone's records or a VPC's subnets that may be lost without consent. */

const BULK_LIMIT_PERCENT = 30;

/** @param least with fewer objects a share says nothing: one of two is 50 % */
export function isBulk(count: number, total: number, least: number): boolean {
  return total >= least && count * 100 > total * BULK_LIMIT_PERCENT;
}
