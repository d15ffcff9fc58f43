/** Takes one line of progress, without its end. Only `cli` turns it into text on standard error. */
export type Progress = (line: string) => void
