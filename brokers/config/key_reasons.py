"""Why keys of Kafka's brokers have no effect here, or are refused: data for `kafka_keys`."""

# reason -> the names of keys, of Kafka 4.3's list
NO_EFFECT = {
    "one event loop serves all connections and logs": """
        num.network.threads num.io.threads background.threads num.recovery.threads.per.data.dir
        num.replica.alter.log.dirs.threads group.coordinator.threads group.coordinator.background.threads""",
    "a connection is not read while its requests wait, so nothing queues up": """
        queued.max.requests queued.max.request.bytes""",
    "waiting requests leave their queue at once": """
        fetch.purgatory.purge.interval.requests producer.purgatory.purge.interval.requests
        delete.records.purgatory.purge.interval.requests share.fetch.purgatory.purge.interval.requests""",
    "brokers keep fetch sessions only for one another": "max.incremental.fetch.session.cache.slots",
    "the receive buffers of followers are the operating system's": "replica.socket.receive.buffer.bytes",
    "requests between nodes have timeouts of their own": """
        request.timeout.ms controller.socket.timeout.ms socket.connection.setup.timeout.ms
        socket.connection.setup.timeout.max.ms""",
    "a node waits for its controllers until it is stopped": """
        initial.broker.registration.timeout.ms server.max.startup.time.ms""",
    "every listener opens when the node is ready": "early.start.listeners",
    "a broker that is asked to stop always hands over what it leads": "controlled.shutdown.enable",
    "the quorum writes at once, and fetches up to 8 MiB": """
        controller.quorum.append.linger.ms controller.quorum.fetch.max.bytes
        controller.quorum.fetch.snapshot.max.bytes internal.metadata.max.batch.size.in.bytes""",
    "the metadata log is cut behind each snapshot, and has segments of 8 MiB": """
        metadata.log.max.snapshot.interval.ms metadata.log.segment.bytes metadata.log.segment.ms
        metadata.max.retention.bytes metadata.max.retention.ms internal.metadata.log.segment.bytes
        internal.metadata.delete.delay.millis""",
    "events of the controller are not measured one by one": """
        controller.performance.always.log.threshold.ms controller.performance.sample.period.ms""",
    "partitions without a leader are looked at with every change": "unclean.leader.election.interval.ms",
    "each log is synced when it is due": "log.flush.scheduler.interval.ms",
    "what recovery needs is saved when it changes, and it begins at once": """
        log.flush.offset.checkpoint.interval.ms log.flush.start.offset.checkpoint.interval.ms
        log.initial.task.delay.ms""",
    "producers expire with each check of retention": "producer.id.expiration.check.interval.ms",
    "offset commits are small: they are not compressed, wait for their replicas, and load as they were written": """
        offsets.commit.timeout.ms offsets.load.buffer.size offsets.topic.compression.codec
        group.coordinator.append.linger.ms group.coordinator.cached.buffer.max.bytes""",
    "groups have the classic protocol; a member of another is refused": """
        group.coordinator.rebalance.protocols group.consumer.assignment.interval.ms group.consumer.assignors
        group.consumer.heartbeat.interval.ms group.consumer.max.assignment.interval.ms
        group.consumer.max.heartbeat.interval.ms group.consumer.max.session.timeout.ms group.consumer.max.size
        group.consumer.migration.policy group.consumer.min.assignment.interval.ms
        group.consumer.min.heartbeat.interval.ms group.consumer.min.session.timeout.ms
        group.consumer.regex.refresh.interval.ms group.consumer.session.timeout.ms
        group.streams.assignment.interval.ms group.streams.heartbeat.interval.ms
        group.streams.initial.rebalance.delay.ms group.streams.max.assignment.interval.ms
        group.streams.max.heartbeat.interval.ms group.streams.max.session.timeout.ms group.streams.max.size
        group.streams.max.standby.replicas group.streams.min.assignment.interval.ms
        group.streams.min.heartbeat.interval.ms group.streams.min.session.timeout.ms
        group.streams.num.standby.replicas group.streams.session.timeout.ms""",
    "there are no share groups; their members are refused": """
        group.share.assignment.interval.ms group.share.assignors group.share.delivery.count.limit
        group.share.heartbeat.interval.ms group.share.initialize.retry.interval.ms
        group.share.max.assignment.interval.ms group.share.max.delivery.count.limit
        group.share.max.heartbeat.interval.ms group.share.max.partition.max.record.locks
        group.share.max.record.lock.duration.ms group.share.max.session.timeout.ms
        group.share.max.share.sessions group.share.max.size group.share.min.assignment.interval.ms
        group.share.min.delivery.count.limit group.share.min.heartbeat.interval.ms
        group.share.min.partition.max.record.locks group.share.min.record.lock.duration.ms
        group.share.min.session.timeout.ms group.share.partition.max.record.locks
        group.share.persister.class.name group.share.record.lock.duration.ms group.share.session.timeout.ms
        share.coordinator.append.linger.ms share.coordinator.cached.buffer.max.bytes
        share.coordinator.cold.partition.snapshot.interval.ms share.coordinator.load.buffer.size
        share.coordinator.snapshot.update.records.per.snapshot share.coordinator.state.topic.compression.codec
        share.coordinator.state.topic.min.isr share.coordinator.state.topic.num.partitions
        share.coordinator.state.topic.prune.interval.ms share.coordinator.state.topic.replication.factor
        share.coordinator.state.topic.segment.bytes share.coordinator.threads
        share.coordinator.write.timeout.ms""",
    "there are no transactions yet; a transactional producer is refused": """
        add.partitions.to.txn.retry.backoff.max.ms add.partitions.to.txn.retry.backoff.ms
        transaction.abort.timed.out.transaction.cleanup.interval.ms transaction.max.timeout.ms
        transaction.partition.verification.enable transaction.remove.expired.transaction.cleanup.interval.ms
        transaction.state.log.load.buffer.size transaction.state.log.min.isr
        transaction.state.log.num.partitions transaction.state.log.replication.factor
        transaction.state.log.segment.bytes transaction.two.phase.commit.enable
        transactional.id.expiration.ms""",
    "there are no client quotas": """
        quota.window.num quota.window.size.seconds""",
    "throttles of replication are measured continuously, not in windows": """
        replication.quota.window.num replication.quota.window.size.seconds
        alter.log.dirs.replication.quota.window.num alter.log.dirs.replication.quota.window.size.seconds""",
    "metrics.listener serves the metrics to Prometheus": """
        metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
        kafka.metrics.polling.interval.secs kafka.metrics.reporters""",
    "clients' own metrics are not collected": "telemetry.max.bytes",
    "there is no remote storage": """
        follower.fetch.last.tiered.offset.enable log.local.retention.bytes log.local.retention.ms
        remote.fetch.max.wait.ms remote.list.offsets.request.timeout.ms
        remote.log.index.file.cache.total.size.bytes remote.log.index.file.cache.ttl.ms
        remote.log.manager.copier.thread.pool.size remote.log.manager.copy.max.bytes.per.second
        remote.log.manager.copy.quota.window.num remote.log.manager.copy.quota.window.size.seconds
        remote.log.manager.expiration.thread.pool.size remote.log.manager.fetch.max.bytes.per.second
        remote.log.manager.fetch.quota.window.num remote.log.manager.fetch.quota.window.size.seconds
        remote.log.manager.follower.thread.pool.size remote.log.manager.task.interval.ms
        remote.log.manager.task.retry.backoff.max.ms remote.log.manager.task.retry.backoff.ms
        remote.log.manager.task.retry.jitter remote.log.manager.thread.pool.size
        remote.log.metadata.custom.metadata.max.bytes remote.log.metadata.manager.class.name
        remote.log.metadata.manager.class.path remote.log.metadata.manager.impl.prefix
        remote.log.metadata.manager.listener.name remote.log.reader.max.pending.tasks
        remote.log.reader.threads remote.log.storage.manager.class.name remote.log.storage.manager.class.path
        remote.log.storage.manager.impl.prefix""",
    "only listeners of PLAINTEXT are served; one that needs this is refused by its protocol": """
        connection.failed.authentication.delay.ms connections.max.reauth.ms principal.builder.class
        security.providers delegation.token.expiry.check.interval.ms delegation.token.expiry.time.ms
        delegation.token.max.lifetime.ms delegation.token.secret.key
        sasl.client.callback.handler.class sasl.enabled.mechanisms sasl.jaas.config sasl.kerberos.kinit.cmd
        sasl.kerberos.min.time.before.relogin sasl.kerberos.principal.to.local.rules
        sasl.kerberos.service.name sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
        sasl.login.callback.handler.class sasl.login.class sasl.login.connect.timeout.ms
        sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds
        sasl.login.refresh.window.factor sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms
        sasl.login.retry.backoff.ms sasl.mechanism.controller.protocol sasl.mechanism.inter.broker.protocol
        sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud
        sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
        sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
        sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file
        sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.private.key.passphrase
        sasl.oauthbearer.assertion.template.file sasl.oauthbearer.client.credentials.client.id
        sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.clock.skew.seconds
        sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
        sasl.oauthbearer.jwks.endpoint.refresh.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms
        sasl.oauthbearer.jwks.endpoint.retry.backoff.ms sasl.oauthbearer.jwks.endpoint.url
        sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.scope
        sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
        sasl.oauthbearer.token.endpoint.url sasl.server.callback.handler.class sasl.server.max.receive.size
        ssl.allow.dn.changes ssl.allow.san.changes ssl.cipher.suites ssl.client.auth ssl.enabled.protocols
        ssl.endpoint.identification.algorithm ssl.engine.factory.class ssl.key.password
        ssl.keymanager.algorithm ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location
        ssl.keystore.password ssl.keystore.type ssl.principal.mapping.rules ssl.protocol ssl.provider
        ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.certificates
        ssl.truststore.location ssl.truststore.password ssl.truststore.type""",
}

# reason -> keys with the one value that is not refused
REFUSED = {
    "nothing here asks who may do what, so everything that it denies would be allowed; "
    "take it out, and let only those reach the listeners who may do everything": {
        "authorizer.class.name": ""
    },
    "classes of Java are not run, so what the policy forbids would be allowed; take it out, or keep to it elsewhere": {
        "create.topic.policy.class.name": "",
        "alter.config.policy.class.name": "",
    },
    "there are no client quotas, so clients would not be throttled; take it out": {
        "client.quota.callback.class": ""
    },
    "there is no remote storage; take it out": {"remote.log.storage.system.enable": "false"},
    "new replicas would be placed there all the same; leave the directory out of log.dirs, or take it out": {
        "cordoned.log.dirs": ""
    },
    "connections are counted, not their rate, so nothing would slow them down; "
    "take it out, and set max.connections or max.connections.per.ip": {
        "max.connection.creation.rate": "2147483647"
    },
    "interfaces that are not stable are not served; take it out": {
        "unstable.api.versions.enable": "false",
        "unstable.feature.versions.enable": "false",
    },
}

# reason -> keys that releases of Kafka before 4.0 had
REMOVED = {
    "the features of the region say what its nodes speak (kafka-features)": """
        inter.broker.protocol.version log.message.format.version log.message.downconversion.enable""",
    "Kafka 4 has log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms instead": """
        log.message.timestamp.difference.max.ms""",
    "every node has the id that its file gives": "broker.id.generation.enable reserved.broker.max.id",
    "a leader that is not the preferred one is moved back whatever their share is": """
        leader.imbalance.per.broker.percentage""",
    "controllers have listeners of their own": "control.plane.listener.name",
    "listeners and advertised.listeners have taken its place": """
        host.name port advertised.host.name advertised.port""",
    "Kafka 4 has it no more": """
        auto.include.jmx.reporter controlled.shutdown.max.retries controlled.shutdown.retry.backoff.ms
        delegation.token.master.key group.coordinator.new.enable offsets.commit.required.acks
        password.encoder.secret password.encoder.old.secret password.encoder.cipher.algorithm
        password.encoder.iterations password.encoder.key.length password.encoder.keyfactory.algorithm
        quota.producer.default quota.consumer.default""",
}

# reason -> keys that are not in Kafka's list: of the plugins that come with it, and of Confluent's cluster links
UNLISTED = {
    "each link says so for itself (replica.fetch.min.bytes of a link)": """
        confluent.cluster.link.fetch.response.min.bytes""",
    "each link says so for itself (replica.fetch.response.max.bytes of a link); link.window.growth.max.bytes bounds "
    "what all of a node add to it over a long way": "confluent.cluster.link.fetch.response.total.bytes",
    "links are kept in the metadata log, which every controller has; they have no topic": """
        confluent.cluster.link.metadata.topic.replication.factor""",
    "it is of an authorizer, and there is none": "super.users allow.everyone.if.no.acl.found",
    "metrics.listener serves the metrics to Prometheus": "metrics.jmx.include metrics.jmx.exclude",
}

# The same, refused but for the value that asks for nothing.
UNLISTED_REFUSED = {
    "links are served where link.listener is set, and changed where admin.listener or rest.listener is: to have none, "
    "leave these out": {"confluent.cluster.link.enable": "true"},
}
