package vectors

// families are the checks by family, in the order of section N.
var families = map[string]family{
	"cbor-cid":               cborCID,
	"identity-suite":         identitySuite,
	"kel-key-length":         kelReplays,
	"kel-prerotation":        kelReplays,
	"kel-supersede":          kelSupersede,
	"evidence":               evidenceObjects,
	"relayauth":              relayAuth,
	"relayauth-sig-encoding": sigEncoding,
	"jcs":                    jcs,
	"jcs-number-tokens":      jcsNumberTokens,
	"bodies":                 bodies,
	"transcript":             transcript,
	"enckeyset":              encKeySet,
	"sealed":                 sealed,
	"padme":                  padme,
	"hpke-rfc9180-a2.1":      hpkeBase,
	"payment":                paymentObjects,
	"payment-window":         paymentWindow,
	"paybind":                payBind,
	"payment-voucher":        vouchers,
	"a2acard-golden":         cardGolden,
	"a2acard-cross-sdk":      cardCrossSDK,
	"a2acard-jwks":           cardJWKS,
	"netcard-unsigned":       netcard,
	"card":                   directoryCard, // of wire 1
}
