/** A plot as markup that needs no script. */
export interface Picture {
  readonly title: string;
  /** What to see, in one or two sentences; also the picture's text for those who cannot see it. */
  readonly caption: string;
  readonly markup: string;
}
