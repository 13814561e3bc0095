/** Whether nothing leaves the machine on the way to this host. */
export const isLocalHost = (host: string): boolean =>
  /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\])$/.test(host);
