"""British to American spelling by rules, with short lists where a rule would catch other words."""

import re

_OUR = """arbour ardour armour behaviour belabour candour clamour clangour colour demeanour discolour dishonour disfavour
    enamour endeavour favour fervour flavour harbour honour humour labour misbehaviour misdemeanour multicolour neighbour
    odour parlour rancour rigour rumour saviour savour splendour succour technicolour tumour valour vapour vigour
    watercolour""".split()
# Whole words and parts of compounds: kilometre, centrefold.
_RE = """accoutre calibre centre fibre goitre lacklustre litre louvre lustre maneuvre meagre metre mitre ochre reconnoitre sabre
    saltpetre sceptre sepulchre sombre spectre theatre""".split()
# American does not double the l of these, where the last syllable is not the stressed one.
_SINGLE_L = """apparel backpedal barrel bedevil bejewel bevel cancel carol cavil channel chisel counsel cruel cudgel dial
    dishevel disembowel drivel duel enamel equal fuel funnel gambol gravel grovel gruel impanel imperil initial jewel
    kennel label laurel level libel marshal marvel medal metal model panel parcel pedal pencil peril quarrel ravel refuel
    remodel revel rival shovel shrivel signal snivel snorkel spiral squirrel stencil swivel symbol tassel tinsel total
    towel trammel travel trowel tunnel unravel victual yodel""".split()
# Verbs and nouns that end in -ise on both sides of the ocean.
_ISE_KEPT = set("""advertise advise apprise appraise arise braise bruise chastise chemise circumcise comprise compromise
    concise counterclockwise anticlockwise clockwise cruise demise despise devise disenfranchise disfranchise disguise
    enfranchise enterprise excise exercise expertise franchise guise improvise incise liaise likewise malaise mayonnaise
    merchandise misadvise moonrise noise otherwise paradise poise porpoise praise precise premise previse promise raise
    reappraise reprise revise rise sunrise supervise surmise surprise televise tortoise treatise turquoise uprise
    valise wise""".split())
_OGUE = "analogue catalogue dialogue epilogue homologue monologue prologue travelogue".split()
_WORDS = {
    "acknowledgement": "acknowledgment", "aeon": "eon", "aeroplane": "airplane", "ageing": "aging",
    "almanack": "almanac", "aluminium": "aluminum", "annexe": "annex", "appal": "appall", "artefact": "artifact",
    "axe": "ax", "bannister": "banister", "behove": "behoove", "bussing": "busing", "caesarean": "cesarean",
    "calliper": "caliper", "cheque": "check", "chequebook": "checkbook", "chequered": "checkered", "chilli": "chili",
    "connexion": "connection", "cosy": "cozy", "cosily": "cozily", "cosiness": "coziness", "councillor": "councilor",
    "counsellor": "counselor", "cypher": "cipher", "defence": "defense", "defenceless": "defenseless",
    "disc": "disk", "distil": "distill", "enrol": "enroll", "enrolment": "enrollment", "enthral": "enthrall", "epaulette": "epaulet",
    "flautist": "flutist", "fulfil": "fulfill", "fulfilment": "fulfillment", "furore": "furor", "gipsy": "gypsy",
    "inflexion": "inflection", "instal": "install", "instalment": "installment", "instil": "instill",
    "jewellery": "jewelry", "judgement": "judgment", "kerb": "curb", "licence": "license", "likeable": "likable",
    "liquorice": "licorice", "marvellous": "marvelous", "marvellously": "marvelously", "mollusc": "mollusk",
    "offence": "offense", "omelette": "omelet", "phoney": "phony", "practise": "practice",
    "practised": "practiced", "practising": "practicing", "pretence": "pretense", "programme": "program",
    "pyjama": "pajama", "skilful": "skillful", "skilfully": "skillfully", "storey": "story", "storeys": "stories",
    "tranquillity": "tranquility", "traveller": "traveler", "tonne": "ton", "tyre": "tire", "waggon": "wagon", "whisky": "whiskey", "wilful": "willful",
    "wilfully": "willfully", "woollen": "woolen", "worshipped": "worshiped", "worshipping": "worshiping",
    "yoghurt": "yogurt",
}
# Replaced wherever they stand in a word.
_PARTS = [
    ("anaem", "anem"), ("anaesth", "anesth"), ("archaeo", "archeo"), ("caesium", "cesium"), ("chimaer", "chimer"),
    ("diarrhoea", "diarrhea"), ("draught", "draft"), ("encyclopaed", "encycloped"), ("faec", "fec"), ("foet", "fet"),
    ("gaol", "jail"), ("gonorrhoea", "gonorrhea"), ("grey", "gray"), ("gynaec", "gynec"), ("haem", "hem"),
    ("homoeo", "homeo"), ("kilogramme", "kilogram"), ("leukaem", "leukem"), ("manoeuv", "maneuv"),
    ("mediaeval", "medieval"), ("milligramme", "milligram"), ("mould", "mold"), ("moult", "molt"),
    ("moustach", "mustach"), ("oedema", "edema"), ("oesoph", "esoph"), ("oestr", "estr"), ("orthopaed", "orthoped"),
    ("paed", "ped"), ("palaeo", "paleo"), ("plough", "plow"), ("primaeval", "primeval"), ("sceptic", "skeptic"),
    ("septicaem", "septicem"), ("smoulder", "smolder"), ("sulph", "sulf"), ("syphon", "siphon"), ("toxaem", "toxem"),
    ("aesthet", "esthet"),
]

_OUR_ENDINGS = "s|ed|ing|ings|er|ers|able|ably|al|ally|ant|ants|ful|fully|hood|hoods|ies|ism|ist|ists|ite|ites|itism|ize|" \
               "ized|izes|izing|less|liness|ly|some|y|ish"
_ISE_ENDINGS = "e|es|ed|er|ers|ing|ingly|able|ably|ance|ement|ation|ations|ational"


def _any(words, cut=0):
    """A pattern for the words without their last `cut` letters."""
    return "|".join(word[: len(word) - cut] for word in words)


# (pattern of the whole word, replacement)
_RULES = [
    # colour, favourite, neighbourhood
    (rf"((?:un)?(?:{_any(_OUR, 3)}))our((?:{_OUR_ENDINGS})?)", r"\1or\2"),
    # centre, kilometres, manoeuvring
    (rf"([a-z]*(?:{_any(_RE, 2)}))re(s?)", r"\1er\2"),
    (rf"([a-z]*(?:{_any(_RE, 2)}))r(ed|ing|ings|able|ability|fold|folds|glass)", r"\1er\2"),
    (rf"([a-z]*(?:{_any(_RE, 2)}))re(fold|folds|glass|piece|pieces|ment|ments)", r"\1er\2"),
    # travelled, modelling, cruellest
    (rf"({_any(_SINGLE_L)})l(ed|ing|ings|ingly|er|ers|est|ist|ists|ation)", r"\1\2"),
    # analyse
    (r"([a-z]{2,}[^aeiou])ys(e|es|ed|er|ers|ing)", r"\1yz\2"),
    # catalogue, catalogued, cataloguing
    (rf"({_any(_OGUE, 2)})u(?:es)", r"\1s"),
    (rf"({_any(_OGUE, 2)})ue", r"\1"),
    (rf"({_any(_OGUE, 2)})u(ed|ing)", r"\1\2"),
]
_RULES = [(re.compile(pattern), replacement) for pattern, replacement in _RULES]
_ISE = re.compile(rf"(?P<stem>[a-z]*[aeiouy][a-z]*)is(?P<end>{_ISE_ENDINGS})")


def _american_ise(word):
    """organise -> organize, organisation; not promise, advise and the like."""
    match = _ISE.fullmatch(word)
    if not match or len(match["stem"]) < 3 or match["stem"] + "ise" in _ISE_KEPT:
        return word
    return match["stem"] + "iz" + match["end"]


def american_word(word):
    if word in _WORDS:
        return _WORDS[word]
    if word.endswith("s") and word[:-1] in _WORDS:
        return _WORDS[word[:-1]] + "s"
    for british, american in _PARTS:
        word = word.replace(british, american)
    for pattern, replacement in _RULES:
        match = pattern.fullmatch(word)
        if match:
            return match.expand(replacement)
    return _american_ise(word)


def american_spelling(text):
    return " ".join(american_word(word) for word in text.split())
