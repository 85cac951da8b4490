package object

import (
	"encoding/json"
	"testing"
)

func TestRefInJSON(t *testing.T) {
	type holder struct {
		Of   Ref `json:"of"`
		None Ref `json:"none"`
	}
	want := holder{Of: Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"}}
	text, err := json.Marshal(want)
	if err != nil || string(text) != `{"of":"Deployment.apps/shop/web","none":""}` {
		t.Fatalf("%s, %v", text, err)
	}
	for _, text := range []string{string(text), `{"of":{"Group":"apps","Kind":"Deployment","Namespace":"shop","Name":"web"}}`} {
		var got holder
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %v, %v", text, got, err)
		}
	}
	for _, text := range []string{`{"of":"web"}`, `{"of":1}`} {
		if err := json.Unmarshal([]byte(text), &holder{}); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
