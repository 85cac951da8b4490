package repository

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func read(t *testing.T, at string) (int, string) {
	t.Helper()
	response, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestServe(t *testing.T) {
	archive := Archive(t, "db", map[string]string{"Chart.yaml": "apiVersion: v2\nname: db\nversion: 1.2.3\n"})
	url := ServeCharts(t, map[string][]byte{"db-1.2.3.tgz": archive, "db-1.2.3.tgz.prov": []byte("signed")})
	for path, want := range map[string]string{
		"/index.yaml": "version: 1.2.3", "/db-1.2.3.tgz": string(archive), "/db-1.2.3.tgz.prov": "signed",
	} {
		if code, body := read(t, url+path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	if code, _ := read(t, url+"/other"); code != http.StatusNotFound {
		t.Errorf("what is not there: %d", code)
	}
	host := ServeOCI(t)
	digest := PushChart(t, host+"/charts/db:1.2.3", archive, []byte("signed"))
	for _, ref := range []string{"1.2.3", digest} {
		if code, body := read(t, "http://"+host+"/v2/charts/db/manifests/"+ref); code != http.StatusOK || !strings.Contains(body, ProvenanceLayer) {
			t.Errorf("%s: %d %q", ref, code, body)
		}
	}
}
