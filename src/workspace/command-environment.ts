/** Marks every process of a call, in bwrap's arguments and in the environment, for the sweep. */
export const CALL_MARKER = 'SUREHAND_CALL';

/** Run code or change what runs when merely set: never taken over from anywhere. */
const REFUSED_NAMES =
  /^(?:BASH_ENV|ENV|PROMPT_COMMAND|LD_.*|NODE_OPTIONS|GIT_.*|PYTHONSTARTUP|PERL5OPT|RUBYOPT|PATH)$/u;

/** Answers for every way in which git, a pager or an installer would wait for a person who is not there. */
const BASE: Readonly<Record<string, string>> = {
  HOME: '/tmp/home',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  CI: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // `true` leaves the prepared message as it is: a rebase goes on, a commit without a message is refused by git itself.
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  // vi would wait for keys for ever: it does what its arguments say, then fails. Its batch mode (-es) does not read this.
  VIMINIT: 'autocmd VimEnter * cquit',
};

/** The whole environment of a command: nothing is inherited. `extra` are names that an operator listed. */
export function commandEnvironment(options: {
  readonly marker: string;
  /** Directories before the system's, e.g. of a node outside `/usr`. */
  readonly binDirectories: readonly string[];
  readonly extra: Readonly<Record<string, string>>;
}): Readonly<Record<string, string>> {
  const extra = Object.entries(options.extra).filter(([name]) => !REFUSED_NAMES.test(name));
  return {
    ...Object.fromEntries(extra),
    PATH: [...options.binDirectories, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    ...BASE,
    [CALL_MARKER]: options.marker,
  };
}
