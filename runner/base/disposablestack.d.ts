declare module "disposablestack/AsyncDisposableStack" {
  const implementation: typeof AsyncDisposableStack;
  export default implementation;
}
