// Drives one of the npm clients through the calls that a site makes; prints what came of each.
import dns from "node:dns";

const [name, host, port, key, wrongKey, spam, ham] = process.argv.slice(2);
const blog = "https://blog.example/";

async function outcome(promise) {
    try {
        const value = await promise;
        return value === undefined ? "done" : value;
    } catch (error) {
        return { error: String(error.message) };
    }
}

// akismet-api calls <key>.<host>, and no such name is known here: let every one lead to us.
function answerForEveryName() {
    const known = dns.lookup;
    dns.lookup = (hostname, options, callback) => {
        const done = callback ?? options;
        if (!hostname.endsWith(".akismet.test") && hostname !== "akismet.test") {
            return known(hostname, options, callback);
        }
        return options.all ? done(null, [{ address: host, family: 4 }]) : done(null, host, 4);
    };
}

async function driveAkismetApi() {
    answerForEveryName();
    const { AkismetClient } = (await import("akismet-api")).default;
    const make = (withKey) =>
        new AkismetClient({ key: withKey, blog, host: `akismet.test:${port}`, protocol: "http" });
    const comment = (content, more = {}) => ({
        ip: "203.0.113.8",
        useragent: "Mozilla/5.0",
        content,
        name: "Dana Reader",
        email: "dana@example.org",
        date: "2026-01-02T03:04:05Z",
        permalink: "https://blog.example/on-sockets/",
        ...more,
    });
    const client = make(key), stranger = make(wrongKey);
    return {
        valid: await outcome(client.verifyKey()),
        invalid: await outcome(stranger.verifyKey()),
        spam: await outcome(client.checkSpam(comment(spam))),
        ham: await outcome(client.checkSpam(comment(ham))),
        forced: await outcome(client.checkSpam(comment(ham, { name: "viagra-test-123", isTest: true }))),
        administrator: await outcome(client.checkSpam(comment(spam, { role: "administrator" }))),
        submitSpam: await outcome(client.submitSpam(comment(ham)).then(() => "done")),
        submitHam: await outcome(client.submitHam(comment(spam)).then(() => "done")),
        wrongKey: await outcome(stranger.checkSpam(comment(spam))),
    };
}

async function driveCedx() {
    const { Author, Blog, CheckResult, Client, Comment } = await import("@cedx/akismet");
    const make = (withKey) =>
        new Client(withKey, new Blog({ charset: "UTF-8", languages: ["en", "fr"], url: blog }), {
            baseUrl: `http://${host}:${port}`,
        });
    const comment = (content, more = {}, author = {}) =>
        new Comment({
            author: new Author({
                ipAddress: "203.0.113.8",
                userAgent: "Mozilla/5.0",
                name: "Dana Reader",
                email: "dana@example.org",
                ...author,
            }),
            content,
            context: ["databases", "sockets"],
            date: new Date("2026-01-02T03:04:05Z"),
            permalink: "https://blog.example/on-sockets/",
            type: "comment",
            ...more,
        });
    const named = Object.fromEntries(Object.entries(CheckResult).map(([k, v]) => [v, k]));
    const check = async (client, given) => named[await client.checkComment(given)];
    const client = make(key), stranger = make(wrongKey);
    return {
        valid: await outcome(client.verifyKey()),
        invalid: await outcome(stranger.verifyKey()),
        spam: await outcome(check(client, comment(spam))),
        ham: await outcome(check(client, comment(ham))),
        forced: await outcome(check(client, comment(ham, {}, { name: "viagra-test-123" }))),
        administrator: await outcome(check(client, comment(spam, {}, { role: "administrator" }))),
        submitSpam: await outcome(client.submitSpam(comment(ham))),
        submitHam: await outcome(client.submitHam(comment(spam))),
        wrongKey: await outcome(check(stranger, comment(spam))),
    };
}

const drive = { "akismet-api": driveAkismetApi, "@cedx/akismet": driveCedx }[name];
console.log(JSON.stringify(await drive()));
