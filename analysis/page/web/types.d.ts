// The worker's script as a text. It is bundled before the page.
declare module "worker-script" {
  const script: string;
  export default script;
}
