// Every binutils learns new mnemonics, and the tests must not depend on which of
// them this machine's objdump has heard of. So the model knows a closed list,
// that of binutils 2.40, and reads a newer line as 2.40 prints it.

package a64

import (
	"fmt"
	"strings"
	"testing"
)

// known is every mnemonic of binutils 2.40 outside of SVE and SME, and rprfm.
var known = names(`
	abs adc adcs add addg adds adr adrp and ands asr asrv autda autdb autdza autdzb autia autib autiza autizb bfc
	bfi bfm bfxil bic bics ccmn ccmp cinc cinv cls clz cmn cmp cmpp cneg cnt crc32b crc32cb crc32ch crc32cw crc32cx
	crc32h crc32w crc32x csel cset csetm csinc csinv csneg ctz eon eor extr gmi irg lsl lslv lsr lsrv madd mneg mov
	movk movn movz msub mul mvn neg negs ngc ngcs orn orr pacda pacdb pacdza pacdzb pacga pacia pacib paciza pacizb
	rbit rev rev16 rev32 rev64 rmif ror rorv sbc sbcs sbfiz sbfm sbfx sdiv setf16 setf8 smaddl smax smin smnegl
	smsubl smulh smull sub subg subp subps subs sxtb sxth sxtw tst ubfiz ubfm ubfx udiv umaddl umax umin umnegl
	umsubl umulh umull uxtb uxth uxtw xpacd xpaci

	at autia1716 autiasp autiaz autib1716 autibsp autibz axflag b bc bl blr blraa blraaz blrab blrabz br braa braaz
	brab brabz brk bti cbnz cbz cfinv cfp clearbhb clrex cpp csdb dc dcps1 dcps2 dcps3 dfb dgh dmb drps dsb dvp
	eret eretaa eretab esb hint hlt hvc ic isb mrs msr nop pacia1716 paciasp paciaz pacib1716 pacibsp pacibz psb
	pssbb ret retaa retab sb sev sevl smc smstart smstop ssbb svc sys sysl tbnz tbz tcancel tcommit tlbi tsb tstart
	ttest wfe wfet wfi wfit xaflag xpaclri yield

	cas casa casab casah casal casalb casalh casb cash casl caslb caslh casp caspa caspal caspl cpye cpyen cpyern
	cpyert cpyertn cpyertrn cpyertwn cpyet cpyetn cpyetrn cpyetwn cpyewn cpyewt cpyewtn cpyewtrn cpyewtwn cpyfe
	cpyfen cpyfern cpyfert cpyfertn cpyfertrn cpyfertwn cpyfet cpyfetn cpyfetrn cpyfetwn cpyfewn cpyfewt cpyfewtn
	cpyfewtrn cpyfewtwn cpyfm cpyfmn cpyfmrn cpyfmrt cpyfmrtn cpyfmrtrn cpyfmrtwn cpyfmt cpyfmtn cpyfmtrn cpyfmtwn
	cpyfmwn cpyfmwt cpyfmwtn cpyfmwtrn cpyfmwtwn cpyfp cpyfpn cpyfprn cpyfprt cpyfprtn cpyfprtrn cpyfprtwn cpyfpt
	cpyfptn cpyfptrn cpyfptwn cpyfpwn cpyfpwt cpyfpwtn cpyfpwtrn cpyfpwtwn cpym cpymn cpymrn cpymrt cpymrtn
	cpymrtrn cpymrtwn cpymt cpymtn cpymtrn cpymtwn cpymwn cpymwt cpymwtn cpymwtrn cpymwtwn cpyp cpypn cpyprn cpyprt
	cpyprtn cpyprtrn cpyprtwn cpypt cpyptn cpyptrn cpyptwn cpypwn cpypwt cpypwtn cpypwtrn cpypwtwn ld1 ld1r ld2
	ld2r ld3 ld3r ld4 ld4r ld64b ldadd ldadda ldaddab ldaddah ldaddal ldaddalb ldaddalh ldaddb ldaddh ldaddl
	ldaddlb ldaddlh ldapr ldaprb ldaprh ldapur ldapurb ldapurh ldapursb ldapursh ldapursw ldar ldarb ldarh ldaxp
	ldaxr ldaxrb ldaxrh ldclr ldclra ldclrab ldclrah ldclral ldclralb ldclralh ldclrb ldclrh ldclrl ldclrlb ldclrlh
	ldeor ldeora ldeorab ldeorah ldeoral ldeoralb ldeoralh ldeorb ldeorh ldeorl ldeorlb ldeorlh ldg ldgm ldlar
	ldlarb ldlarh ldnp ldp ldpsw ldr ldraa ldrab ldrb ldrh ldrsb ldrsh ldrsw ldset ldseta ldsetab ldsetah ldsetal
	ldsetalb ldsetalh ldsetb ldseth ldsetl ldsetlb ldsetlh ldsmax ldsmaxa ldsmaxab ldsmaxah ldsmaxal ldsmaxalb
	ldsmaxalh ldsmaxb ldsmaxh ldsmaxl ldsmaxlb ldsmaxlh ldsmin ldsmina ldsminab ldsminah ldsminal ldsminalb
	ldsminalh ldsminb ldsminh ldsminl ldsminlb ldsminlh ldtr ldtrb ldtrh ldtrsb ldtrsh ldtrsw ldumax ldumaxa
	ldumaxab ldumaxah ldumaxal ldumaxalb ldumaxalh ldumaxb ldumaxh ldumaxl ldumaxlb ldumaxlh ldumin ldumina
	lduminab lduminah lduminal lduminalb lduminalh lduminb lduminh lduminl lduminlb lduminlh ldur ldurb ldurh
	ldursb ldursh ldursw ldxp ldxr ldxrb ldxrh prfm prfum rprfm sete seten setet setetn setge setgen setget setgetn
	setgm setgmn setgmt setgmtn setgp setgpn setgpt setgptn setm setmn setmt setmtn setp setpn setpt setptn st1 st2
	st2g st3 st4 st64b st64bv st64bv0 stadd staddb staddh staddl staddlb staddlh stclr stclrb stclrh stclrl stclrlb
	stclrlh steor steorb steorh steorl steorlb steorlh stg stgm stgp stllr stllrb stllrh stlr stlrb stlrh stlur
	stlurb stlurh stlxp stlxr stlxrb stlxrh stnp stp str strb strh stset stsetb stseth stsetl stsetlb stsetlh
	stsmax stsmaxb stsmaxh stsmaxl stsmaxlb stsmaxlh stsmin stsminb stsminh stsminl stsminlb stsminlh sttr sttrb
	sttrh stumax stumaxb stumaxh stumaxl stumaxlb stumaxlh stumin stuminb stuminh stuminl stuminlb stuminlh stur
	sturb sturh stxp stxr stxrb stxrh stz2g stzg stzgm swp swpa swpab swpah swpal swpalb swpalh swpb swph swpl
	swplb swplh

	addhn addhn2 addp addv aesd aese aesimc aesmc bcax bfcvt bfcvtn bfcvtn2 bfdot bfmlalb bfmlalt bfmmla bif bit
	bsl cmeq cmge cmgt cmhi cmhs cmle cmlt cmtst dup eor3 ext fabd fabs facge facgt fadd faddp fcadd fccmp fccmpe
	fcmeq fcmge fcmgt fcmla fcmle fcmlt fcmp fcmpe fcsel fcvt fcvtas fcvtau fcvtl fcvtl2 fcvtms fcvtmu fcvtn fcvtn2
	fcvtns fcvtnu fcvtps fcvtpu fcvtxn fcvtxn2 fcvtzs fcvtzu fdiv fjcvtzs fmadd fmax fmaxnm fmaxnmp fmaxnmv fmaxp
	fmaxv fmin fminnm fminnmp fminnmv fminp fminv fmla fmlal fmlal2 fmls fmlsl fmlsl2 fmov fmsub fmul fmulx fneg
	fnmadd fnmsub fnmul frecpe frecps frecpx frint32x frint32z frint64x frint64z frinta frinti frintm frintn frintp
	frintx frintz frsqrte frsqrts fsqrt fsub ins mla mls movi mvni not pmul pmull pmull2 raddhn raddhn2 rax1 rshrn
	rshrn2 rsubhn rsubhn2 saba sabal sabal2 sabd sabdl sabdl2 sadalp saddl saddl2 saddlp saddlv saddw saddw2 scvtf
	sdot sha1c sha1h sha1m sha1p sha1su0 sha1su1 sha256h sha256h2 sha256su0 sha256su1 sha512h sha512h2 sha512su0
	sha512su1 shadd shl shll shll2 shrn shrn2 shsub sli sm3partw1 sm3partw2 sm3ss1 sm3tt1a sm3tt1b sm3tt2a sm3tt2b
	sm4e sm4ekey smaxp smaxv sminp sminv smlal smlal2 smlsl smlsl2 smmla smov smull2 sqabs sqadd sqdmlal sqdmlal2
	sqdmlsl sqdmlsl2 sqdmulh sqdmull sqdmull2 sqneg sqrdmlah sqrdmlsh sqrdmulh sqrshl sqrshrn sqrshrn2 sqrshrun
	sqrshrun2 sqshl sqshlu sqshrn sqshrn2 sqshrun sqshrun2 sqsub sqxtn sqxtn2 sqxtun sqxtun2 srhadd sri srshl srshr
	srsra sshl sshll sshll2 sshr ssra ssubl ssubl2 ssubw ssubw2 subhn subhn2 sudot suqadd sxtl sxtl2 tbl tbx trn1
	trn2 uaba uabal uabal2 uabd uabdl uabdl2 uadalp uaddl uaddl2 uaddlp uaddlv uaddw uaddw2 ucvtf udot uhadd uhsub
	umaxp umaxv uminp uminv umlal umlal2 umlsl umlsl2 ummla umov umull2 uqadd uqrshl uqrshrn uqrshrn2 uqshl uqshrn
	uqshrn2 uqsub uqxtn uqxtn2 urecpe urhadd urshl urshr ursqrte ursra usdot ushl ushll ushll2 ushr usmmla usqadd
	usra usubl usubl2 usubw usubw2 uxtl uxtl2 uzp1 uzp2 xar xtn xtn2 zip1 zip2`)

// convertsScalars are the conversions that 2.40 knows between scalars of one
// size only.
var convertsScalars = names(`fcvtas fcvtau fcvtms fcvtmu fcvtns fcvtnu fcvtps fcvtpu fcvtzs fcvtzu scvtf ucvtf`)

// isNewForm reports whether a known mnemonic has operands that 2.40 refuses.
func isNewForm(name string, ops []string) bool {
	switch {
	case name == "ldapr", name == "stlr": // that write their base back
		return len(ops) > 2 || strings.HasSuffix(ops[1], "!")
	case name == "ldapur", name == "stlur": // of vector registers
		return ops[0][0] != 'w' && ops[0][0] != 'x'
	case convertsScalars[name]:
		return len(ops) == 2 && isScalar(ops[0]) && isScalar(ops[1]) && ops[0][0] != ops[1][0]
	}
	return false
}

func isScalar(op string) bool { return strings.ContainsRune("hsd", rune(op[0])) }

// isKnown reports whether 2.40 prints l too.
func (l listing) isKnown() bool {
	name, rest, _ := strings.Cut(l.text, " ")
	stem, _, _ := strings.Cut(name, ".") // of b.eq and bc.eq
	return l.undefined() || known[stem] && !isNewForm(name, operandsOf(rest))
}

// as240 returns l as binutils 2.40 prints it. A new name in the hint or the sys
// space is what it was before it had one; any other new line is undefined.
func (l listing) as240() listing {
	switch w := l.word; {
	case l.isKnown():
	case w&0xffff_f01f == 0xd503_201f:
		l.text = fmt.Sprintf("hint #%#x", uint32(w>>5&0x7f))
	case w&0xfff8_0000 == 0xd508_0000:
		l.text = fmt.Sprintf("sys x%d", w&31)
	case w&0xfff8_0000 == 0xd528_0000:
		l.text = fmt.Sprintf("sysl x%d", w&31)
	default:
		l.text = ".inst " + l.text
	}
	return l
}

func TestAs240(t *testing.T) {
	for _, test := range []struct {
		word       Word
		text, want string
	}{
		{0xd503201f, "nop", "nop"},
		{0x54000040, "b.eq 8", "b.eq 8"},
		{0x55000000, ".inst 0x55000000 ; undefined", ".inst 0x55000000 ; undefined"},
		{0xf8a84838, "rprfm pldkeep, x8, [x1]", "rprfm pldkeep, x8, [x1]"},
		{0xd503251f, "chkfeat x16", "hint #0x28"},
		{0xd5032fff, "future", "hint #0x7f"},
		{0xd50b7744, "gcsss1 x4", "sys x4"},
		{0xd52b7768, "gcsss2 x8", "sysl x8"},
		{0xd51b7744, "future x4", ".inst future x4"},
		{0xd5033f1f, "future", ".inst future"},
		{0xd5480000, "sysp #0, C0, C0, #0, x0, x1", ".inst sysp #0, C0, C0, #0, x0, x1"},
		{0x19200820, "rcwcas x0, x0, [x1]", ".inst rcwcas x0, x0, [x1]"},
		{0xb8bfc020, "ldapr w0, [x1]", "ldapr w0, [x1]"},
		{0x99c00820, "ldapr w0, [x1], #4", ".inst ldapr w0, [x1], #4"},
		{0x889ffc20, "stlr w0, [x1]", "stlr w0, [x1]"},
		{0x99800820, "stlr w0, [x1, #-4]!", ".inst stlr w0, [x1, #-4]!"},
		{0xd9400020, "ldapur x0, [x1]", "ldapur x0, [x1]"},
		{0x1dc00820, "ldapur q0, [x1]", ".inst ldapur q0, [x1]"},
		{0x9900003f, "stlur wzr, [x1]", "stlur wzr, [x1]"},
		{0x1d000820, "stlur b0, [x1]", ".inst stlur b0, [x1]"},
		{0x5e21d820, "scvtf s0, s1", "scvtf s0, s1"},
		{0x1e220020, "scvtf s0, w1", "scvtf s0, w1"},
		{0x5f3cfc20, "fcvtzs s0, s1, #4", "fcvtzs s0, s1, #4"},
		{0x0e21d820, "scvtf v0.2s, v1.2s", "scvtf v0.2s, v1.2s"},
		{0x9e3c0020, "scvtf s0, d1", ".inst scvtf s0, d1"},
	} {
		if got := (listing{0, test.word, test.text}).as240().text; got != test.want {
			t.Errorf("as240(%08x, %q) = %q, want %q", uint32(test.word), test.text, got, test.want)
		}
	}
}
