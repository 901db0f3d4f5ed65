/** A declared image: what an image entry of a manifest comes to. */

export interface ImageSpec {
  readonly label: string;
  /** undefined: left alone; null or "": empty. Without the owner's tag. */
  readonly description: string | null | undefined;
  /** How the image is made; null: it must be there already, and is never made. */
  readonly source: ImageSource | null;
  readonly family: ImageFamily | null;
  /** Whether a changed file is a change of the image. */
  readonly track: boolean;
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

/** What an image entry says of its family. */
export interface ImageFamily {
  /** The labels of its images begin with this and a hyphen. */
  readonly name: string;
  readonly keep: number;
}
