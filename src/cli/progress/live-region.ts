import type { Clock } from "../../host/index.ts";
import type { Screen, Span } from "../screen.ts";

/** The lines at the bottom of a terminal that change while something is waited for. */

/** One changing line, drawn anew for each frame. */
export type LiveLine = (frame: string) => readonly Span[];

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
const frameMs = 100;
const eraseBelow = "\u001b[J";

/** Draws lines again and again until they are taken away. Draws nothing where the screen is no terminal. */
export class LiveRegion {
  readonly #screen: Screen;
  readonly #clock: Clock;
  #lines: readonly LiveLine[] = [];
  #drawn = 0;
  #frame = 0;
  #ticking: AbortController | undefined;

  constructor(screen: Screen, clock: Clock) {
    this.#screen = screen;
    this.#clock = clock;
  }

  /** Shows these lines instead of those before; the cursor stands at the beginning of a line. */
  show(lines: readonly LiveLine[]): void {
    if (!this.#screen.isTerminal) return;
    this.#lines = lines;
    this.#draw();
    if (lines.length === 0) this.#stopTicking();
    else if (this.#ticking === undefined) this.#tick();
  }

  /** Takes all lines away. */
  clear(): void {
    if (this.#drawn > 0 || this.#lines.length > 0) this.show([]);
  }

  #draw(): void {
    const frame = frames[this.#frame % frames.length] ?? "";
    const text = this.#lines.map((line) => `${this.#screen.paint(line(frame))}\n`).join("");
    const back = this.#drawn === 0 ? "" : `\r\u001b[${this.#drawn}A${eraseBelow}`;
    this.#screen.raw(back + text);
    this.#drawn = this.#lines.length;
  }

  #tick(): void {
    const ticking = new AbortController();
    this.#ticking = ticking;
    const next = (): void => {
      if (ticking.signal.aborted) return;
      this.#frame++;
      this.#draw();
      void this.#clock.sleep(frameMs, ticking.signal).then(next);
    };
    void this.#clock.sleep(frameMs, ticking.signal).then(next);
  }

  #stopTicking(): void {
    this.#ticking?.abort();
    this.#ticking = undefined;
  }
}
