import type { Effect, SandboxState, Verdict } from '../contract/activity';
import type { PermissionSetting } from '../contract/run-input';

/** Everything a verdict depends on. The same facts always get the same verdict. */
export interface VerdictRequest {
  readonly permission: PermissionSetting;
  readonly sandbox: SandboxState;
  readonly tool: string;
  readonly effect: Effect;
  /** The tool runs a program of the model's choice. */
  readonly runsCommands: boolean;
  /** What it changes is not confined to the workspace. */
  readonly asksInAuto?: boolean;
  /** How the call meets files that others will run (hooks, configuration): it would write one that no tool may write, or
   *  one that a person has to agree to. */
  readonly protectedWrite: 'none' | 'refused' | 'asks';
}

/** One opinion on a call; the strictest of all wins, whatever their order or source. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: string;
}

const STRICTNESS: Readonly<Record<Verdict, number>> = { allow: 0, ask: 1, deny: 2 };

/** deny > ask > allow over all judgements; what would ask is denied when nobody is there to answer. */
export function verdict(request: VerdictRequest): Judgement {
  const strictest = strictestOf([bySandbox(request), byMode(request), byProtection(request)]);
  if (strictest.verdict !== 'ask' || !request.permission.unattended) return strictest;
  return {
    verdict: 'deny',
    reason: `${strictest.reason} The run is unattended, so nobody can be asked. Go on without it.`,
  };
}

/** Of equally strict ones the first. */
export function strictestOf(judgements: readonly Judgement[]): Judgement {
  return judgements.reduce((strictest, next) =>
    STRICTNESS[next.verdict] > STRICTNESS[strictest.verdict] ? next : strictest,
  );
}

function bySandbox({ sandbox, runsCommands }: VerdictRequest): Judgement {
  if (!runsCommands) return { verdict: 'allow', reason: '' };
  switch (sandbox.mode) {
    case 'strict':
      return { verdict: 'allow', reason: 'It runs in the sandbox.' };
    case 'off':
      return { verdict: 'allow', reason: 'The operator of the worker switched the sandbox off.' };
    case 'broken':
      return {
        verdict: 'deny',
        reason: [
          `Commands are refused because the sandbox does not hold on this host (${sandbox.detail}).`,
          'A person can mend it (`surehand doctor` says how) or start the worker with --sandbox=off. Go on without commands.',
        ].join(' '),
      };
  }
}

function byMode({ permission, effect, tool, runsCommands, asksInAuto }: VerdictRequest): Judgement {
  if (effect === 'read') return { verdict: 'allow', reason: 'It only reads.' };
  switch (permission.mode) {
    case 'auto':
      if (asksInAuto === true) {
        return { verdict: 'ask', reason: `${tool} changes something outside the workspace, so a person has to agree.` };
      }
      return { verdict: 'allow', reason: 'Changes inside the workspace are allowed (mode auto).' };
    case 'ask':
      return { verdict: 'ask', reason: `${tool} changes something, and every change is asked for (mode ask).` };
    case 'read-only':
      return {
        verdict: 'deny',
        reason: runsCommands
          ? 'Nothing may be changed (mode read-only). Set read_only to true to run a command that only looks.'
          : 'Nothing may be changed (mode read-only).',
      };
  }
}

function byProtection({ protectedWrite }: VerdictRequest): Judgement {
  switch (protectedWrite) {
    case 'none':
      return { verdict: 'allow', reason: '' };
    case 'asks':
      return { verdict: 'ask', reason: 'The file decides what other programs run, so a person has to agree.' };
    case 'refused':
      return { verdict: 'deny', reason: 'git would run what stands in this file, so no tool may write it.' };
  }
}
