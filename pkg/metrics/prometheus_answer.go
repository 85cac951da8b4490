package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// answer is what the query API answers. Of its samples only floats are read: nothing
// that is asked for has histograms.
type answer struct {
	Status    string   `json:"status"`
	ErrorType string   `json:"errorType"`
	Error     string   `json:"error"`
	Warnings  []string `json:"warnings"`
	Infos     []string `json:"infos"`
	// IsPartial is how VictoriaMetrics says that a part of its storage did not answer.
	IsPartial bool `json:"isPartial"`
	Data      struct {
		ResultType string      `json:"resultType"`
		Result     []rawSeries `json:"result"`
	} `json:"data"`
}

type rawSeries struct {
	Metric map[string]string `json:"metric"`
	Values json.RawMessage   `json:"values"`
	Value  json.RawMessage   `json:"value"`

	samples []sample
}

// sample is a value at a time, in milliseconds since 1970. The value is an integer in
// the unit of its metric: nanoseconds and nanocores of CPU, bytes, milliseconds of a
// time.
type sample struct{ t, v int64 }

// decodeAnswer reads a body. Values are multiplied by ten to the power of scale and
// rounded to integers; what is no number, or beyond 63 bits, is left out.
func decodeAnswer(body []byte, scale int) (*answer, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, errors.New("it is not JSON, or cut off")
	}
	switch {
	case a.Status == "error":
		return &a, nil
	case a.Status != "success":
		return nil, errors.New("it is not a response of Prometheus' query API")
	case a.Data.ResultType != "matrix" && a.Data.ResultType != "vector":
		return nil, fmt.Errorf("it is a %q, expected series", a.Data.ResultType)
	}
	for i := range a.Data.Result {
		s := &a.Data.Result[i]
		text := s.Values
		if a.Data.ResultType == "vector" {
			text = append(append(json.RawMessage{'['}, s.Value...), ']')
		}
		var err error
		if s.samples, err = parseSamples(text, scale); err != nil {
			return nil, fmt.Errorf("samples of %s: %w", s.Metric["__name__"], err)
		}
		s.Values, s.Value = nil, nil
	}
	return &a, nil
}

// parseSamples reads [[1600000000.123,"1.5"],...]. It is by hand, since nearly all of
// the work of a long window is here. The JSON is known to be valid.
func parseSamples(text []byte, scale int) ([]sample, error) {
	out := make([]sample, 0, len(text)/28)
	for i := 0; i < len(text); {
		open := indexByte(text, i, '[')
		if open < 0 {
			break
		}
		if i == 0 { // of the list itself
			i = open + 1
			continue
		}
		comma := indexByte(text, open, ',')
		end := indexByte(text, open, ']')
		if comma < 0 || end < comma {
			return nil, fmt.Errorf("a sample is not a pair: %s", excerpt(text[open:min(len(text), open+40)]))
		}
		at, ok := parseScaled(strings.TrimSpace(string(text[open+1:comma])), 3)
		if !ok {
			return nil, errors.New("a timestamp is not a number")
		}
		value := strings.Trim(strings.TrimSpace(string(text[comma+1:end])), `"`)
		if v, ok := parseScaled(value, scale); ok {
			out = append(out, sample{at, v})
		}
		i = end + 1
	}
	return out, nil
}

func indexByte(text []byte, from int, b byte) int {
	for i := from; i < len(text); i++ {
		if text[i] == b {
			return i
		}
	}
	return -1
}

// parseScaled reads a decimal number times ten to the power of scale, rounded half
// away from zero. It fails for NaN and infinities, and beyond 63 bits.
func parseScaled(text string, scale int) (int64, bool) {
	digits, negative := strings.CutPrefix(text, "-")
	var n int64
	point, taken := -1, 0
	for i := range len(digits) {
		switch c := digits[i]; {
		case c == '.' && point < 0:
			point = i
		case c >= '0' && c <= '9' && (point < 0 || i-point <= scale):
			if n > (math.MaxInt64-9)/10 {
				return parseLong(text, scale)
			}
			n = n*10 + int64(c-'0')
			taken++
		default: // more digits than are kept, an exponent, or no number
			return parseLong(text, scale)
		}
	}
	if taken == 0 {
		return 0, false
	}
	places := 0
	if point >= 0 {
		places = len(digits) - point - 1
	}
	for ; places < scale; places++ {
		if n > math.MaxInt64/10 {
			return 0, false
		}
		n *= 10
	}
	if negative {
		n = -n
	}
	return n, true
}

// parseLong is parseScaled for the rare forms.
func parseLong(text string, scale int) (int64, bool) {
	// Floats have no greater exponents, and bigger ones would be slow.
	if _, err := strconv.ParseFloat(text, 64); err != nil || len(text) > 400 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	twice := new(big.Int).Mul(new(big.Int).Abs(r.Num()), big.NewInt(2))
	twice.Add(twice, r.Denom())
	n := twice.Quo(twice, new(big.Int).Mul(r.Denom(), big.NewInt(2)))
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n.Int64(), n.IsInt64()
}
