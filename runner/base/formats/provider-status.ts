/** Statuses that are the provider's or the operator's doing. Others (a request too long, an argument refused) are the agent's. */
export function isProviderStatus(status: number): boolean {
  return (
    status >= 500 || (status >= 300 && status < 400) || [401, 402, 403, 404, 407, 408, 409, 425, 429].includes(status)
  );
}
