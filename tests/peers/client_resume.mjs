// The official TypeScript client of the legacy era: calls one tool, and goes on by itself where its connection is lost.
//
// usage: client_resume.mjs SDK URL NAME JSON
//
// SDK is the folder of the package @modelcontextprotocol/sdk. Prints {"progress": [..], "result": ..}.

const [sdk, url, name, given] = process.argv.slice(2);
const { Client } = await import(`${sdk}/dist/esm/client/index.js`);
const { StreamableHTTPClientTransport } = await import(`${sdk}/dist/esm/client/streamableHttp.js`);

const client = new Client({ name: 'plugway-peers', version: '0' });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const progress = [];
const result = await client.callTool({ name, arguments: JSON.parse(given) }, undefined, {
    onprogress: (step) => progress.push(step.progress),
    timeout: 60_000
});
console.log(JSON.stringify({ progress, result }));
// What is left are connections that nobody needs any more.
process.exit(0);
