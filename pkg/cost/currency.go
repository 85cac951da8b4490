package cost

import (
	"slices"
	"strings"
)

// currencies are the codes of ISO 4217 that FOCUS 1.2 allows as a BillingCurrency,
// in order (currency_codes.csv of the FOCUS validator).
const currencies = `
AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN
BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD
FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR
KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV
MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG
SEK SGD SHP SLE SLL SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN
UYI UYU UYW UZS VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XDR XOF XPD XPF XPT XSU XTS XUA
XXX YER ZAR ZMW ZWL
`

// Currencies returns the codes of the currencies that a book may be in, in order.
func Currencies() []string { return strings.Fields(currencies) }

// IsCurrency says whether a code is that of a currency.
func IsCurrency(code string) bool {
	_, ok := slices.BinarySearch(Currencies(), code)
	return ok
}
