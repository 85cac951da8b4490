package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/release"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// bombSecret is a release of Helm of 1 GiB in about 1 MiB.
func bombSecret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	space := bytes.Repeat([]byte(" "), 1<<20)
	for range (MaxRecordBytes >> 20) + 1 {
		if _, err := w.Write(space); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Labels: map[string]string{"owner": "helm", "name": "web", "version": "9"}},
		Data:       map[string][]byte{"release": []byte(base64.StdEncoding.EncodeToString(packed.Bytes()))},
	}
}

// TestDriverUnpacksWithinBounds puts a release that unpacks to far more than a Secret holds
// beside an honest one: Helm's driver lists the honest one, and never unpacks the other.
func TestDriverUnpacksWithinBounds(t *testing.T) {
	set := fake.NewClientset(bombSecret(t, "sh.helm.release.v1.web.v9"))
	secrets := driver.NewSecrets(boundedSecrets{set.CoreV1().Secrets("shop")})
	honest := &releasev1.Release{Name: "web", Namespace: "shop", Version: 1, Info: &releasev1.Info{Status: rcommon.StatusDeployed}}
	if err := secrets.Create("sh.helm.release.v1.web.v1", honest); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := secrets.Get("sh.helm.release.v1.web.v9"); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("Get: %v", err)
	}
	if got, err := secrets.Get("sh.helm.release.v1.web.v1"); err != nil || got == nil {
		t.Errorf("the honest one: %v %v", got, err)
	}
	list, err := secrets.List(func(release.Releaser) bool { return true })
	if err != nil || len(list) != 1 {
		t.Errorf("List: %d, %v", len(list), err)
	}
	found, err := secrets.Query(map[string]string{"name": "web", "owner": "helm"})
	if err != nil || len(found) != 1 {
		t.Errorf("Query: %d, %v", len(found), err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > MaxRecordBytes {
		t.Errorf("it took %d MiB", used>>20)
	}
}

// TestManifestsOfRecordsGrowWithinBounds: aliases in a manifest that Helm keeps are bounded.
func TestManifestsOfRecordsGrowWithinBounds(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: &a " + strings.Repeat("x", 64<<10) + "\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "  k%d: *a\n", i)
	}
	if _, err := ObjectsIn(text.String()); err == nil || !strings.Contains(err.Error(), "expand to far more") {
		t.Errorf("of what is live: %v", err)
	}
	if _, err := new(act).objectsOf(text.String(), "shop"); err == nil || !strings.Contains(err.Error(), "expand to far more") {
		t.Errorf("of a record: %v", err)
	}
}
