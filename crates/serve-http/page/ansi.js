// The output of a program as styled lines: colours are kept, redrawn
// lines are folded to their last form, everything else that a terminal would
// do is left out. A line is a list of runs, as of a screen's row.

const ESC = "\x1b";
// An escape sequence that may go on in what comes next.
const OPEN = /\x1b(\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]*\x1b?|[ -/]*)?$/;
const SEQUENCE = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])/y;

export class AnsiLines {
  #rest = "";
  #look = {};
  /** The runs of the line that is not ended yet. */
  open = [];

  /** Takes text in; gives the lines that it ends. */
  take(text) {
    let all = this.#rest + text;
    const cut = all.lastIndexOf(ESC);
    this.#rest = "";
    if (cut >= 0 && all.length - cut < 4096 && OPEN.test(all.slice(cut))) {
      this.#rest = all.slice(cut);
      all = all.slice(0, cut);
    }
    const lines = [];
    let at = 0;
    while (at < all.length) {
      const code = all.charCodeAt(at);
      if (code === 27) {
        SEQUENCE.lastIndex = at;
        const found = SEQUENCE.exec(all);
        if (found?.[2] === "m") this.#sgr(found[1]);
        at += found?.[0].length ?? 1;
      } else if (code === 10) {
        lines.push(this.open);
        this.open = [];
        at++;
      } else if (code === 13) {
        // A line that is drawn again; before a line's end it says nothing.
        at++;
        if (all[at] !== "\n" && at < all.length) this.open = [];
        else if (at === all.length) this.#rest = "\r";
      } else if (code < 32 && code !== 9) at++;
      else {
        let end = at + 1;
        while (end < all.length && (all.charCodeAt(end) >= 32 || all.charCodeAt(end) === 9)) end++;
        this.open.push({ ...this.#look, text: all.slice(at, end) });
        at = end;
      }
    }
    return lines;
  }

  #sgr(parameters) {
    const codes = joined(parameters);
    const look = { ...this.#look };
    for (let at = 0; at < codes.length; at++) {
      const code = codes[at];
      if (Array.isArray(code)) underlined(look, code[1]);
      else if (code === 0) for (const name of Object.keys(look)) delete look[name];
      else if (code === 4 || code === 21) underlined(look, code === 4 ? 1 : 2);
      else if (code in ON) look[ON[code]] = true;
      else if (code in OFF) for (const name of OFF[code]) delete look[name];
      else if (code >= 30 && code <= 37) look.fg = code - 30;
      else if (code >= 90 && code <= 97) look.fg = code - 82;
      else if (code >= 40 && code <= 47) look.bg = code - 40;
      else if (code >= 100 && code <= 107) look.bg = code - 92;
      else if (code === 38 || code === 48) {
        const name = code === 38 ? "fg" : "bg";
        if (codes[at + 1] === 5) look[name] = codes[at + 2] & 255;
        if (codes[at + 1] === 2) look[name] = codes.slice(at + 2, at + 5).map((value) => value & 255);
        at += codes[at + 1] === 5 ? 2 : 4;
      }
    }
    this.#look = look;
  }
}

/** The numbers of a sequence; a kind of underline (`4:3`) stays together. */
function joined(parameters) {
  return parameters.split(";").flatMap((part) => {
    const numbers = part.split(":").map(Number);
    return numbers[0] === 4 && numbers.length > 1 ? [numbers] : numbers.filter((_, at) => !(numbers.length === 6 && at === 2));
  });
}

const UNDERLINES = { 2: "double", 3: "curly", 4: "dotted", 5: "dashed" };

function underlined(look, kind) {
  delete look.underline;
  delete look.underline_kind;
  if (kind) look.underline = true;
  if (UNDERLINES[kind]) look.underline_kind = UNDERLINES[kind];
}

const ON = { 1: "bold", 2: "dim", 3: "italic", 7: "inverse", 8: "hidden", 9: "strikeout" };
const OFF = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline", "underline_kind"], 27: ["inverse"], 28: ["hidden"], 29: ["strikeout"], 39: ["fg"], 49: ["bg"] };
