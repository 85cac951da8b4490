package strict

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"

	"go.yaml.in/yaml/v3"
)

// PlainNumbers writes the numbers of a JSON text that have an exponent as plain decimals: to
// readers of YAML 1.1, 1e-09 is text.
func PlainNumbers(text []byte) []byte {
	if !bytes.ContainsAny(text, "eE") {
		return text
	}
	var out []byte
	done, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '-' || c >= '0' && c <= '9'):
			end := i
			for end < len(text) && strings.IndexByte("+-.eE0123456789", text[end]) >= 0 {
				end++
			}
			if number := text[i:end]; bytes.ContainsAny(number, "eE") {
				out = append(append(out, text[done:i]...), plainNumber(string(number))...)
				done = end
			}
			i = end - 1
		}
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// maxDigits is how long a plain number may become. No float64 is as long.
const maxDigits = 1100

// plainNumber writes a number without an exponent, to the last digit.
func plainNumber(text string) string {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(text), "e")
	power, parsed := new(big.Int).SetString(exponent, 10)
	if !ok || !parsed || !power.IsInt64() || power.CmpAbs(big.NewInt(maxDigits)) > 0 {
		return text
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits, point := whole+fraction, len(whole)+int(power.Int64())
	if point < 1 {
		digits, point = strings.Repeat("0", 1-point)+digits, 1
	}
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative {
		return "-" + whole
	}
	return whole
}

// YAML writes a JSON text as YAML, keys in order, and numbers as they are in it, to the last
// digit.
func YAML(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(withNumbers(v)); err != nil {
		return nil, err
	}
	return out.Bytes(), enc.Close()
}

// withNumbers puts nodes in the place of numbers, of which the writer of YAML would make floats.
func withNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = withNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i])
		}
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: plainNumber(v.String())}
	}
	return v
}
