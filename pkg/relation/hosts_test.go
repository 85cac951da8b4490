package relation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// services lists the Services that a text may refer to in the namespace shop, and the shown text.
func services(text string, bare bool) (found, shown string) {
	var list []string
	envHost(template{namespace: "shop"}, text, bare, func(namespace, svc, s string) {
		list, shown = append(list, namespace+"/"+svc), s
	})
	return strings.Join(list, " "), shown
}

func TestHosts(t *testing.T) {
	for _, c := range []struct {
		text string
		bare bool
		want string
		show string // the text itself where empty
	}{
		// One name.
		{text: "db", bare: true, want: "shop/db"},
		{text: "db"},
		{text: "db:5432", want: "shop/db"},
		{text: "db:5432", bare: true, want: "shop/db"},
		{text: "db.data", want: "data/db"}, // A pod of a Service only if something else suggests a host.
		{text: "db.data", bare: true, want: "data/db shop/data"},
		{text: "kafka-0.kafka", want: "kafka/kafka-0 shop/kafka"},
		{text: "db.data:5432", want: "data/db shop/data"},
		{text: "redis:7", want: ""}, // An image.
		{text: "https://www.api.dev/", want: ""},
		{text: "https://api.dev", want: ""},
		{text: "https://api.dev.svc", want: "dev/api"},
		{text: "db.data:5432", want: "data/db shop/data"},
		{text: "db.data.svc", want: "data/db"},
		{text: "db.data.svc:5432", want: "data/db"},
		{text: "db.data.svc.cluster.local", want: "data/db"},
		{text: "db.data.svc.cluster.local.", want: "data/db"},
		{text: "db.data.svc.k8s.example.org:5432", want: "data/db"},
		{text: "  db.data.svc ", want: "data/db", show: "db.data.svc"},
		{text: "kafka-0.kafka", want: "kafka/kafka-0 shop/kafka"},
		{text: "kafka-0.kafka.data", want: "data/kafka"},
		{text: "kafka-0.kafka.data.svc", want: "data/kafka"},
		{text: "kafka-0.kafka.data.svc.cluster.local:9092", want: "data/kafka"},
		{text: "db.1234.svc", want: "1234/db"},

		// Lists.
		{text: "kafka-0.kafka:9092,kafka-1.kafka:9092", want: "kafka/kafka-0 shop/kafka kafka/kafka-1"},
		{text: "a:81, b:82", want: "shop/a shop/b", show: "a:81,b:82"},
		{text: "zk-0.zk:2181,zk-1.zk:2181/kafka", want: "zk/zk-0 shop/zk zk/zk-1"},
		{text: "a,b", bare: true, want: "shop/a shop/b"},
		{text: "a,b"},
		{text: `["http://es:9200"]`, want: "shop/es", show: "http://es:9200"},
		{text: "http://a:1,http://b.x.svc:2/", want: "shop/a x/b"},
		{text: "http://a:1 http://b:2", want: "shop/a shop/b"},
		{text: "etcd-0=http://etcd-0.etcd:2380,etcd-1=http://etcd-1.etcd:2380", want: "etcd/etcd-0 shop/etcd etcd/etcd-1", show: "http://etcd-0.etcd:2380,http://etcd-1.etcd:2380"},

		// URLs.
		{text: "http://web", want: "shop/web"},
		{text: "https://web.front.svc/api/v1", want: "front/web"},
		{text: "tcp://10.0.0.1:80"},
		{text: "tcp://mq:5672", want: "shop/mq"},
		{text: "redis://:s3cr3t@cache:6379/0", want: "shop/cache", show: "redis://cache:6379/0"},
		{text: "mysql://root:s3cr3t@db:3306/shop", want: "shop/db", show: "mysql://db:3306/shop"},
		{text: "jdbc:mysql://db:3306/shop?user=root&password=s3cr3t", want: "shop/db", show: "jdbc:mysql://db:3306/shop"},
		{text: "jdbc:postgresql://h1:5432,h2.data.svc:5433/shop", want: "shop/h1 data/h2"},
		{text: "postgres://u:s3cr3t@db.data.svc.cluster.local:5432/x?sslmode=disable", want: "data/db", show: "postgres://db.data.svc.cluster.local:5432/x"},
		{text: "mongodb://u:s3cr3t@m-0.m:27017,m-1.m:27017/db?replicaSet=rs", want: "m/m-0 shop/m m/m-1", show: "mongodb://m-0.m:27017,m-1.m:27017/db"},
		{text: "mongodb+srv://m.data.svc/", want: "data/m"},
		{text: "amqp://u:s3cr3t@mq", want: "shop/mq", show: "amqp://mq"},
		{text: "http://web/?next=http://other:80", want: "shop/web shop/other", show: "http://web/,http://other:80"},
		{text: "http://web/hooks/T0ab12cd34ef56", want: "shop/web", show: "http://web"},
		{text: "http://npm:4873/@scope/pkg", want: "shop/npm", show: "http://npm:4873"},

		// Schemes without a host.
		{text: "s3://backups"},
		{text: "s3://backups@us-east-1/"},
		{text: "s3a://web/x,gs://web"},
		{text: "pvc://models/iris"},
		{text: "SPIFFE://web/ns/x"},
		{text: "oci://registry:5000/x", want: "shop/registry"},

		// Passwords with unescaped characters.
		{text: "mysql://root:s3/cr3t@db:3306/x", want: "shop/db", show: "mysql://db:3306/x"},
		{text: "mysql://root:1/s3cr3t@db:3306/x", want: "shop/db", show: "mysql://db:3306/x"},
		{text: "mysql://root:s3@cr3t@db:3306/x", want: "shop/db", show: "mysql://db:3306/x"},
		{text: "mysql://root:1?s3cr3t@db:3306/x"},
		{text: "mysql://root:1#s3cr3t@db:3306/x"},
		{text: "amqp://u:s3://cr3t@db", want: "shop/db", show: "amqp://db"},
		{text: "redis:6379,password=s3,cr3t.x,ssl=true", want: "shop/redis", show: "redis:6379"},
		{text: "u:s3,cr3t.x@db:5432/x", want: "shop/db", show: "db:5432/x"},

		// Connection strings.
		{text: "host=db port=5432 user=x password=s3cr3t", want: "shop/db", show: "db"},
		{text: "Server=tcp:db.data,1433;Database=x;User Id=u;Password=s3cr3t", want: "data/db", show: "db.data"},
		{text: "user:s3cr3t@tcp(db:3306)/x?parseTime=true", want: "shop/db", show: "db:3306"},
		{text: "mysql://user:s3cr3t@tcp(db:3306)/x", want: "shop/db", show: "mysql://db:3306"},
		{text: "jdbc:sqlserver://db:1433;databaseName=x;password=s3cr3t", want: "shop/db", show: "jdbc:sqlserver://db:1433"},
		{text: "jdbc:oracle:thin:u/s3cr3t@//db:1521/orcl", want: "shop/db", show: "db:1521/orcl"},
		{text: "jdbc:oracle:thin:u/s3cr3t@db:1521:SID", want: "shop/db", show: "db:1521"},

		// No hosts.
		{text: "", bare: true},
		{text: "localhost:5432"},
		{text: "https://kubernetes.default.svc:443"}, // Everything needs the API server.
		{text: "localhost", bare: true},
		{text: "http://localhost:80/"},
		{text: "127.0.0.1", bare: true},
		{text: "10.96.0.1:443"},
		{text: "[::1]:80", bare: true},
		{text: "1.5", bare: true},
		{text: "3306", bare: true},
		{text: "12:30"},
		{text: "/var/run/db.sock", bare: true},
		{text: "./db", bare: true},
		{text: `C:\db`, bare: true},
		{text: "conf/db.yaml"},
		{text: "Debug", bare: true},
		{text: "db_1", bare: true},
		{text: "-db", bare: true},
		{text: "db-", bare: true},
		{text: "db:", bare: true},
		{text: "db:http", bare: true},
		{text: "db:123456"},
		{text: "a..b"},
		{text: "see db.data or ask", bare: true},
		{text: "see http://web for more"},
		{text: "--url=http://web"},
		{text: "http://web is down"},
		{text: "a b", bare: true},
		{text: "admin@db.data"},
		{text: "git@db.data:x/y.git"},
		{text: "$(DB):5432", bare: true},
		{text: "http://$(DB):5432/"},
		{text: "a.b.c.d.e"},
		{text: strings.Repeat("a", 64), bare: true},
		{text: strings.Repeat("a.b,", 2000)},
		{text: "{\"host\": \"db.data\"}", bare: true},
		{text: "key=db.data"},
	} {
		want, show := c.want, c.show
		if show == "" && want != "" {
			show = c.text
		}
		if got, shown := services(c.text, c.bare); got != want || shown != show {
			t.Errorf("%q (bare %v):\n got %q shown as %q\nwant %q shown as %q", c.text, c.bare, got, shown, want, show)
		}
	}
}

func TestVariable(t *testing.T) {
	for want, names := range map[meaning]string{
		hostValue: "DB_HOST HOST dbHost DBHost DB_HOST_1 PGHOST DATABASE_URL databaseUrl TOKEN_URL DB_HOST_NAME DB_HOSTNAME KAFKA_BROKERS BROKER_LIST " +
			"MY_SERVICE_NAME mySQLServiceName AUTH_SERVICE BOOTSTRAP_SERVERS REDIS_MASTER UPSTREAM ELASTICSEARCH_HOSTS LOG_SERVER PEERS API_KEY_SERVICE_URL DB_DSN MYDBHOST spring.datasource.url",
		anyValue: "DB_NAME SERVICE_NAME SERVER_NAME PROXY_USER SERVER_MODE LOG_TARGET_LEVEL BACKEND_TYPE SERVICE_PORT GHOST LOCALHOST CURL DB NAME USER " +
			"TARGET_ENV NODE_ENV MONKEY X",
		otherValue:  "OTEL_SERVICE_NAME DD_SERVICE OTEL_EXPORTER_OTLP_ENDPOINT JAEGER_AGENT_HOST NO_PROXY no_proxy ALLOWED_ORIGINS ALLOWED_HOSTS CORS_HOSTS PUBLIC_URL EXTERNAL_URL LISTEN_ADDR bind-address KAFKA_ADVERTISED_LISTENERS web.listen-address",
		secretValue: "DB_PASSWORD SERVICE_TOKEN API_KEY IMAGE PROXY_IMAGE_TAG HOST_KEY SECRET_FILE PASSWORD_FILE dbPassword SERVER_SECRET",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := variable(name); got != want {
				t.Errorf("%s: got %d, want %d", name, got, want)
			}
		}
	}
}

func TestExpand(t *testing.T) {
	env := []corev1.EnvVar{
		{Name: "HOST", Value: "old"},
		{Name: "HOST", Value: "db"},
		{Name: "ADDR", Value: "$(HOST):$(PORT)"},
		{Name: "PASSWORD", Value: "s3cr3t"},
		{Name: "FROM", ValueFrom: &corev1.EnvVarSource{}},
	}
	for text, want := range map[string]string{
		"http://$(HOST)/":      "http://db/",
		"$(ADDR)":              "db:$(PORT)",
		"$(NONE)$(FROM)":       "$(NONE)$(FROM)",
		"u:$(PASSWORD)@$(HOST": "u:$(PASSWORD)@$(HOST",
		"$$(HOST)":             "$$(HOST)",
	} {
		if got := expand(text, env); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	// A text that doubles at every step must terminate.
	deep := []corev1.EnvVar{{Name: "A", Value: ""}}
	for range 60 {
		deep = append(deep, corev1.EnvVar{Name: "A", Value: "$(A)$(A)"})
	}
	expand("$(A)", deep)
}

// FuzzHosts: for any text, only hosts are shown, and only valid DNS names.
func FuzzHosts(f *testing.F) {
	for _, s := range []string{
		"db", "db.data.svc:1", "mysql://u:p@db:3306/x?y=z", "mongodb://u:p@a.b:1,c.d:2/x", "host=db password=x", "u:p@tcp(db:1)/x",
		"a=http://b,c=http://d", "redis:6379,password=x", "jdbc:oracle:thin:@//db:1521/x", "http://a/@b", "x://", "://", "@tcp(", "a:1,,b",
	} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, bare bool) {
		envHost(template{namespace: "shop"}, text, bare, func(namespace, svc, shown string) {
			if !isLabel(namespace) || !isLabel(svc) {
				t.Errorf("%q: %q in %q is no name", text, svc, namespace)
			}
			if shown == "" || strings.ContainsAny(shown, "@?#&=;() \t\n\\\"'$") {
				t.Errorf("%q is shown as %q", text, shown)
			}
			if strings.Count(text, shown) == 0 && !strings.ContainsAny(text, "@,?#;= /|\"'[]{}<>\t\r\n:(") {
				t.Errorf("%q is shown as %q, which does not stand there", text, shown)
			}
		})
	})
}

// FuzzPassword: a password, escaped or not, is never shown.
func FuzzPassword(f *testing.F) {
	for _, s := range []string{"plain", "a/b", "a@b", "a?b", "a#b", "1:2", "a,b", "1/2@3", "://", "a;b=c", "1?2", "x.y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, password string) {
		const mark = "zq7zq" // a digit and letters that occur nowhere else
		for _, text := range []string{
			"mysql://user:" + password + mark + "@db:3306/x",
			"host=db password=" + password + mark + " user=x",
			"user:" + password + mark + "@tcp(db:3306)/x",
			"redis:6379,password=" + password + mark,
		} {
			if _, shown := services(text, true); strings.Contains(shown, mark) {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
	})
}

// FuzzArgs: for any command line, only hosts are shown.
func FuzzArgs(f *testing.F) {
	for _, s := range []string{"--db-host\nmysql", "--url=http://u:p@a.b.svc/x", "-c\ncurl http://a:80; x", "--dsn=host=db password=x", "-e\nA_HOST=b", "$(A)", "echo\t'http://a'|b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec := &corev1.PodSpec{Containers: []corev1.Container{{Args: strings.Split(text, "\n"), Env: []corev1.EnvVar{{Name: "A", Value: "db"}}}}}
		argHosts(template{spec: spec, namespace: "shop"}, func(l Link) {
			if !isLabel(l.Target.Namespace) || !isLabel(l.Target.Name) {
				t.Errorf("%q: %+v is no name", text, l.Target)
			}
			if l.Value == "" || strings.ContainsAny(l.Value, "@?#&=;() \t\n\\\"'$") {
				t.Errorf("%q is shown as %q", text, l.Value)
			}
		})
	})
}
