package cli_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/internal/cli"
)

// authority signs certificates, and has them in files of a directory.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{dir: t.TempDir()}
	a.cert, a.key = a.issue(t, "ca", nil)
	return a
}

// issue signs a certificate and writes NAME.pem and NAME.key; that of the authority is its own.
func (a *authority) issue(t *testing.T, name string, address net.IP) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: a.cert == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if address != nil {
		template.IPAddresses = []net.IP{address}
	}
	parent, signer := template, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	a.write(t, name+".key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(a.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return a.path(name)
}

// serve serves TLS with a certificate for 127.0.0.1, and demands one of the authority.
func (a *authority) serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	a.issue(t, "server", net.IPv4(127, 0, 0, 1))
	pair, err := tls.LoadX509KeyPair(a.path("server.pem"), a.path("server.key"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = nil
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL
}

const onePodInfo = `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"metric":"kube_pod_info"},"value":[1,"1"]}]}}`

// doctor runs metrics doctor, and returns what it wrote and its exit code.
func doctor(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out, talk bytes.Buffer
	code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), append([]string{"metrics", "doctor", "--window", "2026-09-01/2026-09-02"}, args...))
	return out.String() + talk.String(), code
}

// TestPrometheusAccess reaches a server that demands a client certificate, a tenant and a user or a
// token: by flags and by a file, which a flag overrides.
func TestPrometheusAccess(t *testing.T) {
	a := newAuthority(t)
	a.issue(t, "client", nil)
	var last http.Header
	address := a.serve(t, func(w http.ResponseWriter, r *http.Request) {
		last = r.Header
		fmt.Fprint(w, onePodInfo)
	})
	token := a.write(t, "token", "s3cret-token\n")
	a.write(t, "password", "s3cret-password")
	certificates := "caFile: ca.pem\ncertFile: client.pem\nkeyFile: client.key\n"
	head := "apiVersion: sysop.dev/v1alpha1\nkind: PrometheusAccess\nurl: " + address + "\n"
	byFile := a.write(t, "access.yaml", head+certificates+"headers: [{name: X-Scope-OrgID, value: shop}]\nusername: ann\npasswordFile: password\n")
	inFile := a.write(t, "secret.yaml", head+certificates+"headers: [{name: X-Api-Key, value: s3cret-key}]\ntoken: s3cret-token\nmatchers: cluster=\"eu\"\n")
	flags := []string{"--prometheus", address, "--prometheus-ca-file", a.path("ca.pem"), "--prometheus-cert-file", a.path("client.pem"), "--prometheus-key-file", a.path("client.key")}
	for name, c := range map[string]struct {
		args []string
		want map[string]string
	}{
		"flags":  {append(flags, "--prometheus-header", "X-Scope-OrgID: shop", "--prometheus-token-file", token), map[string]string{"X-Scope-OrgID": "shop", "Authorization": "Bearer s3cret-token"}},
		"file":   {[]string{"--prometheus-config", byFile}, map[string]string{"X-Scope-OrgID": "shop", "Authorization": "Basic YW5uOnMzY3JldC1wYXNzd29yZA=="}},
		"secret": {[]string{"--prometheus-config", inFile}, map[string]string{"X-Api-Key": "s3cret-key", "Authorization": "Bearer s3cret-token"}},
		"both": {
			[]string{"--prometheus-config", byFile, "--prometheus-header", "x-scope-orgid: data", "--prometheus-token-file", token, "--prometheus-insecure"},
			map[string]string{"X-Scope-OrgID": "data", "Authorization": "Bearer s3cret-token"},
		},
	} {
		text, code := doctor(t, append(c.args, "-o", "json")...)
		if code != 0 || strings.Contains(text, "s3cret") || !strings.Contains(text, `"status": "present"`) {
			t.Errorf("%s: exit %d: %s", name, code, text)
		}
		for key, want := range c.want {
			if got := last.Get(key); got != want {
				t.Errorf("%s: %s is %q, want %q", name, key, got, want)
			}
		}
	}
}

// TestPrometheusService reaches a Service through an API server, which records what it is sent: the
// credentials of the kubeconfig for itself, and headers of the access for the Service.
func TestPrometheusService(t *testing.T) {
	var mu sync.Mutex
	methods, refused := map[string]bool{}, ""
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		methods[r.Method] = true
		if !strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/mimir/services/https:gateway:443/proxy/prometheus/api/v1/") {
			refused = "path " + r.URL.Path
		}
		for key, want := range map[string]string{"X-Scope-OrgID": "shop", "X-Api-Key": "s3cret", "Authorization": "Bearer of-the-kubeconfig", "Accept": "application/json"} {
			if got := r.Header.Get(key); got != want {
				refused = fmt.Sprintf("%s %s: %q", r.Method, key, got)
			}
		}
		fmt.Fprint(w, onePodInfo)
	}))
	defer server.Close()
	a := &authority{dir: t.TempDir()}
	a.write(t, "key", "s3cret\n")
	access := a.write(t, "access.yaml", "apiVersion: sysop.dev/v1alpha1\nkind: PrometheusAccess\nurl: svc:https:mimir/gateway:443/prometheus\n"+
		"headers: [{name: X-Scope-OrgID, value: data}, {name: X-Api-Key, valueFile: key}]\n")
	long := `cluster="` + strings.Repeat("a", 5000) + `"` // is posted
	text, code := doctor(t, "--kubeconfig", kubeconfig(t, server.URL), "--insecure-skip-tls-verify", "--token", "of-the-kubeconfig", "--prometheus-config", access,
		"--prometheus-header", "X-Scope-OrgID: shop", "--prometheus-insecure", "--prometheus-matchers", long, "-o", "json")
	if code != 0 || refused != "" || strings.Contains(text, "s3cret") || !strings.Contains(text, `"status": "present"`) {
		t.Errorf("exit %d, the API server has %s: %s", code, refused, text)
	}
	if !methods[http.MethodPost] {
		t.Errorf("methods %v: no long query was posted", methods)
	}
}

// TestPrometheusServiceRefuses has a Service that refuses, and the API server: what each says is
// told, with what to set.
func TestPrometheusServiceRefuses(t *testing.T) {
	const ofAPIServer = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"services is forbidden","reason":"Forbidden","code":403}`
	for body, c := range map[string]struct {
		status int
		want   []string
	}{
		"no org id":           {http.StatusUnauthorized, []string{"no org id", "hint: --prometheus-header 'X-Scope-OrgID: TENANT'"}},
		"<html>Log in</html>": {http.StatusForbidden, []string{"access is denied", "hint: if it needs a token", "kubectl port-forward"}},
		`{"status":"error","errorType":"execution","error":"too many samples"}`: {http.StatusUnprocessableEntity, []string{"too many samples", "--query.max-samples"}},
		ofAPIServer: {http.StatusForbidden, []string{"services is forbidden"}},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, body)
		}))
		text, code := doctor(t, "--kubeconfig", kubeconfig(t, server.URL), "--prometheus", "svc:mimir/gateway:80")
		server.Close()
		for _, want := range append(c.want, "query svc:mimir/gateway:80") {
			if code == 0 || !strings.Contains(text, want) {
				t.Errorf("%s: exit %d, no %q in %s", body, code, want, text)
			}
		}
	}
}

// TestPrometheusAccessRefused has what is written wrongly, or not safely: errors name it and a
// remedy, and no secret.
func TestPrometheusAccessRefused(t *testing.T) {
	a := newAuthority(t)
	a.issue(t, "client", nil)
	address := a.serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, onePodInfo) })
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	head := "apiVersion: sysop.dev/v1alpha1\nkind: PrometheusAccess\nurl: " + address + "\n"
	n := 0
	file := func(text string, mode os.FileMode) []string {
		n++
		name := a.write(t, fmt.Sprintf("access-%d.yaml", n), head+text)
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		return []string{"--prometheus-config", name}
	}
	service := func(text string) []string { return append(file(text, 0o600), "--prometheus", "svc:a/b") }
	on := func(args ...string) []string { return append([]string{"--prometheus", address}, args...) }
	ca := on("--prometheus-ca-file", a.path("ca.pem"))
	for _, c := range []struct {
		args []string
		want []string
	}{
		{file("token: s3cret\n", 0o644), []string{"holds a secret, and every user of this machine can read or change it (mode 0644)", "hint: chmod 600 "}},
		{file("username: ann\npassword: s3cret\n", 0o604), []string{"mode 0604", "chmod 600"}},
		{file("headers: [{name: X-Api-Key, value: s3cret}]\n", 0o644), []string{"mode 0644"}},
		{file("headers: [{name: X-Scope-OrgID, value: shop}]\ncaFile: ca.pem\n", 0o644), []string{"--prometheus-cert-file"}}, // no secret: read
		{file("tokn: s3cret\n", 0o600), []string{`unknown key "tokn"`, "token", "docs/invoice.md"}},
		{file("token: [s3cret]\n", 0o600), []string{":4:8: expected a string"}},
		{file("token: s3cret\nusername: ann\n", 0o600), []string{"a token and a username exclude each other"}},
		{file("password: s3cret\n", 0o600), []string{"username is missing"}},
		{file("certFile: client.pem\n", 0o600), []string{"needs both certFile and keyFile"}},
		{file("headers: [{name: X-Scope-OrgID}]\n", 0o600), []string{"expected a value or a valueFile"}},
		{file("headers: [{name: \"a b\", value: c}]\n", 0o600), []string{"expected the name of a header"}},
		{file("tokenFile: nowhere\n", 0o600), []string{"read the bearer token", "nowhere"}},
		{[]string{"--prometheus-config", a.path("nowhere.yaml")}, []string{"--prometheus-config", "nowhere.yaml"}},
		{on("--prometheus-header", "Authorization: Bearer s3cret"), []string{"the value of Authorization is a secret", "--prometheus-config"}},
		{on("--prometheus-header", "s3cret"), []string{"expected NAME: VALUE"}},
		{on("--prometheus-cert-file", a.path("client.pem")), []string{"needs both"}},
		{on("--prometheus-ca-file", a.path("client.key")), []string{"holds no PEM certificate"}},
		{on("--prometheus-ca-file", a.path("ca.pem"), "--prometheus-insecure"), []string{"exclude each other"}},
		{[]string{"--prometheus", "https://ann:s3cret@mimir.example.com"}, []string{"the address has a user", "--prometheus-config"}},
		{[]string{"--prometheus", "https://ann:s%3cret%@mimir.example.com"}, []string{"the address has a user"}},
		{[]string{"--prometheus", "https://ann:s/3cret@mimir.example.com"}, []string{"the address has a user"}},
		{file("token: s3cret\n", 0o640), []string{"its group can read or change it (mode 0640)", "defaultMode: 0400"}},
		{service("token: s3cret\n"), []string{"a bearer token (Authorization) does not pass the proxy of the API server", "kubectl port-forward", "--prometheus http://localhost:9090"}},
		{service("username: ann\npassword: s3cret\n"), []string{"a user (Authorization) does not pass", "kubectl port-forward"}},
		{service("headers: [{name: impersonate-user, value: ann}]\n"), []string{"the header impersonate-user does not pass"}},
		{service("certFile: client.pem\nkeyFile: client.key\n"), []string{"a client certificate does not pass", "--prometheus https://localhost:9090"}},
		{append(service(""), "--prometheus-ca-file", a.path("ca.pem")), []string{"accepts any certificate", "--prometheus https://localhost:9090"}},
		{[]string{"--prometheus-header", "X-Scope-OrgID: shop"}, []string{"there is no --prometheus"}},
		{on(), []string{"unknown authority", "hint: --prometheus-ca-file"}},
		{ca, []string{"https://", "--prometheus-cert-file"}},
		{[]string{"--prometheus", "https" + strings.TrimPrefix(plain.URL, "http")}, []string{"write http:// in --prometheus"}},
	} {
		text, code := doctor(t, c.args...)
		if code == 0 || strings.Contains(text, "s3cret") {
			t.Errorf("%s: exit %d: %s", c.args, code, text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", c.args, want, text)
			}
		}
	}
}

// TestPrometheusRemedies has servers that do not answer: each error says what to set.
func TestPrometheusRemedies(t *testing.T) {
	failed := func(kind, message string) string {
		return fmt.Sprintf(`{"status":"error","errorType":%q,"error":%q}`, kind, message)
	}
	const empty = `{"status":"success","data":[]}`
	file := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(file, []byte(pastPods), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status int
		body   string
		want   []string
	}{
		"slow":           {503, failed("timeout", "query timed out in expression evaluation"), []string{"timed out", "hint: --request-timeout", "metrics rules"}},
		"cut":            {200, `{"status":"success","data":["kube_pod`, []string{"cut off", "hint: ask for a shorter --window"}},
		"422":            {422, failed("execution", "query processing would load too many samples into memory"), []string{"too many samples", "--query.max-samples"}},
		"429":            {429, "rate limit", []string{"429", "hint: ask again later"}},
		"503":            {503, "not ready", []string{"503", "hint: ask again when the server is ready"}},
		"HTML":           {200, "<html>Log in</html>", []string{"web page", "hint: write the address of the API"}},
		"no permission":  {401, "<html>Log in</html>", []string{"access is denied", "hint: --prometheus-token-file"}},
		"no tenant":      {401, "no org id", []string{"no org id", "hint: --prometheus-header 'X-Scope-OrgID: TENANT'"}},
		"plain to TLS":   {400, "Client sent an HTTP request to an HTTPS server.", []string{"400", "hint: write https:// in --prometheus"}},
		"another tenant": {200, empty, []string{"it has no metrics", "hint: --prometheus-header 'X-Scope-OrgID: TENANT'"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			}))
			defer s.Close()
			var out, talk bytes.Buffer
			args := strings.Fields("metrics -A --window 2026-09-01T00:00:00Z/2026-09-01T01:00:00Z --from " + file + " --prometheus " + s.URL)
			if code := cli.Main(t.Context(), env(strings.NewReader(""), &out, &talk), args); code == 0 || out.Len() > 0 {
				t.Errorf("exit %d: %s", code, &out)
			}
			for _, want := range append(c.want, s.URL) {
				if !strings.Contains(talk.String(), want) {
					t.Errorf("no %q in %s", want, &talk)
				}
			}
		})
	}
}
