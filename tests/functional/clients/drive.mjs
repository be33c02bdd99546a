// Makes the calls that the test asks for, one a line on standard input, and answers each in one.
import { createInterface } from "node:readline";
import { inspect } from "node:util";

const [file] = process.argv.slice(2);
const { Client, SlopsieveError, textOfSpan, verifyCallback } = await import(file);

const functions = {
  verifyCallback: ({ args: [headers, body, secret, options] }) =>
    verifyCallback(headers, Buffer.from(body, "base64"), secret, options),
  textOfSpan: ({ args }) => textOfSpan(...args),
  inspect: ({ client }) => inspect(new Client(...client), { showHidden: true, depth: 9 }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let said;
  try {
    const answer = functions[asked.name]
      ? await functions[asked.name](asked)
      : await new Client(...asked.client)[asked.name](...asked.args);
    said = { answer };
  } catch (error) {
    if (!(error instanceof SlopsieveError)) throw error;
    const { title, status, detail, errors, retry_after, request_id } = error;
    said = { error: { title, status, detail, errors, retry_after, request_id }, inspected: inspect(error) };
  }
  process.stdout.write(JSON.stringify(said) + "\n");
}
