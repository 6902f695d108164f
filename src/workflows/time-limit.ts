import { CancellationScope, sleep } from '@temporalio/workflow';

/** Cancels `work` at `deadlineAt` (milliseconds since the epoch); without one it just runs it. */
export async function withinTimeLimit<T>(deadlineAt: number | null, work: () => Promise<T>): Promise<T> {
  if (deadlineAt === null) return work();
  return CancellationScope.cancellable(async () => {
    const scope = CancellationScope.current();
    const timer = new CancellationScope();
    void timer
      .run(() => sleep(Math.max(1, deadlineAt - Date.now()), { summary: 'time limit' }))
      .then(
        () => {
          scope.cancel();
        },
        () => undefined,
      );
    try {
      return await work();
    } finally {
      timer.cancel();
    }
  });
}
