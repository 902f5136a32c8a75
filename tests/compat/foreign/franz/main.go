// franz-go with its default settings (idempotent, acks=all): produces `count` values, reads as many as a group.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type event struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

var out sync.Mutex

func say(name string, record *kgo.Record) {
	line, _ := json.Marshal(event{name, string(record.Value), record.Partition, record.Offset})
	out.Lock()
	defer out.Unlock()
	fmt.Println(string(line))
}

func main() {
	seeds, topic, group := strings.Split(os.Args[1], ","), os.Args[2], os.Args[3]
	count, _ := strconv.Atoi(os.Args[4])
	pause, _ := time.ParseDuration(os.Args[5] + "ms")
	producer := open(kgo.SeedBrokers(seeds...), kgo.DefaultProduceTopic(topic))
	reading := make(chan struct{})
	go func() {
		read(seeds, topic, group, count)
		close(reading)
	}()
	for number := 0; number < count; number++ {
		producer.Produce(context.Background(), kgo.StringRecord(strconv.Itoa(number)), acknowledged)
		time.Sleep(pause)
	}
	if err := producer.Flush(context.Background()); err != nil {
		fail(err)
	}
	<-reading
}

func acknowledged(record *kgo.Record, err error) {
	if err != nil {
		say("producer_send_error", record)
	} else {
		say("producer_send_success", record)
	}
}

func read(seeds []string, topic, group string, count int) {
	start := kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
	consumer := open(kgo.SeedBrokers(seeds...), kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group), start)
	defer consumer.Close()
	seen := map[string]bool{}
	for len(seen) < count {
		consumer.PollFetches(context.Background()).EachRecord(func(record *kgo.Record) {
			seen[string(record.Value)] = true
			say("record_data", record)
		})
	}
}

func open(options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(options...)
	if err != nil {
		fail(err)
	}
	return client
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
