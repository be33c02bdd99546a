// A program that uses the client; each line marked so must be refused by the type checker.
import { Client, SlopsieveError, textOfSpan, verifyCallback } from "./slopsieve-client.mjs";

const text = "See https://boilers.example";
const client = new Client("https://slopsieve.example", "slop_", { timeout: 3, patience: 0 });

const comment = await client.submitComment({ text, author: { name: "Mara" } }, { wait: 5 });
const action: "publish" | "hold" | "reject" = comment.action;
const marked: string[] = comment.verdict?.promo_spans.map((span) => textOfSpan(text, span)) ?? [];
const page = await client.listComments({ needs_review: true, limit: 3 });
const next: string | null = page.next_cursor;
const message = await verifyCallback(new Headers(), new Uint8Array(), "whsec_");
const ruling: "approve" | "reject" | null = message.data.ruling;
try {
  await client.undoDecision(comment.id);
} catch (error) {
  if (error instanceof SlopsieveError) error.errors.map((one) => one.remedy.trim());
}

// @ts-expect-error
await client.submitComment({ txt: "a" });
// @ts-expect-error
await client.decideComment(comment.id, { ruling: "maybe" });
// @ts-expect-error
comment.verdict.outcome;
// @ts-expect-error
await client.listComments({ needs_review: "yes" });

export { action, marked, next, ruling };
