/** Whether a process of this machine runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be asked, and is there.
    return error instanceof Error && 'code' in error && error.code !== 'ESRCH';
  }
}
