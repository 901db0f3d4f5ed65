/** The engine behind an address. Only here the libraries of the engines are loaded. */

import type { Diagnostic } from "../model/diagnostic.ts";
import type { OpenedStore, StoreAddress, StoreOptions } from "./store.ts";

/** Opens the store, and looks whether it is fit. */
export async function openStore(address: StoreAddress, options: StoreOptions): Promise<OpenedStore> {
  switch (address.engine) {
    case "redis":
      return (await import("./redis.ts")).openRedis(address, options);
    case "postgres":
      return (await import("./postgres.ts")).openPostgres(address, options);
  }
}

/** Makes what the store needs before it is used under a prefix: the tables of PostgreSQL. @returns what is wrong; null: it is ready */
export async function prepareStore(address: StoreAddress, prefix: string): Promise<Diagnostic | null> {
  if (address.engine === "redis") return null;
  return (await import("./postgres.ts")).preparePostgres(address, prefix);
}
