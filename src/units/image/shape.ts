/** A declared image: what an image entry of a manifest comes to. */

export interface ImageSpec {
  readonly label: string;
  /** undefined: left alone; null or "": empty. Without the owner's tag. */
  readonly description: string | null | undefined;
  /** How it is made; null: it is there already, and is never made. */
  readonly source: ImageSource | null;
}

export type ImageSource =
  | {
      readonly type: "upload";
      /** Relative to the project folder, forward slashes. */
      readonly file: string;
      readonly region: string;
      readonly cloud_init: boolean;
    }
  | { readonly type: "capture"; readonly disk_id: number; readonly cloud_init: boolean };
