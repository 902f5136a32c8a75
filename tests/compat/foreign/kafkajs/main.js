// kafkajs, idempotent and with patience, else as it comes: produces `count` values, reads as many as a group.
const { Kafka, logLevel } = require("kafkajs");

const [bootstrap, topic, groupId, count, pause] = process.argv.slice(2);
const kafka = new Kafka({
  brokers: bootstrap.split(","),
  logLevel: logLevel.ERROR,
  retry: { retries: 60, maxRetryTime: 1000 },
});

const say = (event) => console.log(JSON.stringify(event));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function produce() {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  for (let number = 0; number < Number(count); number++) {
    const value = String(number);
    // With a key, since a retry without one goes to another partition, and the next value gets its sequence number.
    const [told] = await producer.send({ topic, acks: -1, messages: [{ key: value, value }] });
    const offset = Number(told.baseOffset);
    say({ name: "producer_send_success", value, partition: told.partition, offset });
    await sleep(Number(pause));
  }
  await producer.disconnect();
}

async function read() {
  const consumer = kafka.consumer({ groupId, sessionTimeout: 10000, heartbeatInterval: 1000 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const seen = new Set();
  await new Promise((resolve) => {
    const eachMessage = async ({ partition, message }) => {
      const value = message.value.toString();
      say({ name: "record_data", value, partition, offset: Number(message.offset) });
      if (seen.add(value).size === Number(count)) resolve();
    };
    consumer.run({ eachMessage });
  });
}

// The consumer's disconnect() may wait for a broker that was restarted, long after all was read: nobody needs it here.
Promise.all([produce(), read()]).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
