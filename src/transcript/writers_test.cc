#include "transcript/writers.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sotto::transcript {
namespace {

Segment segment(double start, double end, std::string text) {
  Segment s;
  s.start = start;
  s.end = end;
  s.text = std::move(text);
  return s;
}

/// 61.234 s to 63.5 s, text `Say "hi"`.
Transcript one_segment() {
  Transcript t;
  t.text = "Say \"hi\"";
  t.language = "en";
  t.duration = 64;
  t.segments = {segment(61.234, 63.5, " Say \"hi\"")};
  return t;
}

Transcript hello_bye() {
  Transcript t;
  t.text = "Hello there. Bye.";
  t.language = "en";
  t.language_probability = 0.998F;
  t.duration = 3.2;
  t.segments = {segment(0, 1.4, " Hello there."), segment(2.1, 3.0, " Bye.")};
  t.segments[1].id = 1;
  t.segments[0].tokens = {{2425, " Hello", 0, 0.5, 0.9F, -0.1F},
                          {456, " there", 0.5, 1.3, 0.5F, -0.7F},
                          {13, ".", 1.3, 1.4, 1e-7F, -16}};
  t.segments[1].tokens = {{4621, " Bye", 2.1, 3.0, 1, 0}, {13, ".", 3.0, 3.0, 1, 0}};
  for (Segment& s : t.segments) {
    s.avg_logprob = -0.21F;
    s.compression_ratio = 0.68F;
    s.no_speech_prob = 0.01F;
  }
  t.segments[0].words = {{" Hello", 0, 0.5, 0.9F}, {" there.", 0.5, 1.4, 0.5F}};
  t.segments[1].words = {{" Bye.", 2.1, 3.0, 1}};
  return t;
}

TEST(Writers, TextFormatsOfOneSegment) {
  const Transcript t = one_segment();
  EXPECT_EQ(write(t, Format::kSrt, {}), "1\n00:01:01,234 --> 00:01:03,500\nSay \"hi\"\n\n");
  EXPECT_EQ(write(t, Format::kVtt, {}), "WEBVTT\n\n00:01:01.234 --> 00:01:03.500\nSay \"hi\"\n\n");
  EXPECT_EQ(write(t, Format::kTsv, {}), "start\tend\ttext\n61234\t63500\tSay \"hi\"\n");
  EXPECT_EQ(write(t, Format::kCsv, {}), "start,end,text\n61234,63500,\"Say \"\"hi\"\"\"\n");
  EXPECT_EQ(write(t, Format::kLrc, {}), "[by:sotto]\n[01:01.23]Say \"hi\"\n");
  EXPECT_EQ(write(t, Format::kTxt, {}), "Say \"hi\"\n");
}

TEST(Writers, NoSegments) {
  const Transcript t;
  EXPECT_EQ(write(t, Format::kTxt, {}), "");
  EXPECT_EQ(write(t, Format::kSrt, {}), "");
  EXPECT_EQ(write(t, Format::kVtt, {}), "WEBVTT\n\n");
  EXPECT_EQ(write(t, Format::kTsv, {}), "start\tend\ttext\n");
  EXPECT_EQ(write(t, Format::kJson, {}),
            "{\"text\": \"\", \"segments\": [], \"language\": \"\"}\n");
}

TEST(Writers, AwkwardTextStaysInItsField) {
  Transcript t = one_segment();
  t.segments = {segment(0, 1, " a\tb\r\n\r\nc --> d <i> & e\xFF"), segment(1, 2, "  \n ")};
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(write(t, Format::kSrt, {}),
            "1\n00:00:00,000 --> 00:00:01,000\na\tb c -> d <i> & e" + bad + "\n\n");
  EXPECT_EQ(write(t, Format::kVtt, {}),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na\tb c -> d &lt;i> &amp; e" + bad + "\n\n");
  EXPECT_EQ(write(t, Format::kTsv, {}),
            "start\tend\ttext\n0\t1000\ta b c --> d <i> & e" + bad + "\n");
  EXPECT_EQ(write(t, Format::kTxt, {}), "a\tb c --> d <i> & e" + bad + "\n");
}

TEST(Writers, Speakers) {
  Transcript t = one_segment();
  t.segments[0].speaker = "A<b>, \"c\"";
  EXPECT_EQ(write(t, Format::kTxt, {}), "[A<b>, \"c\"]: Say \"hi\"\n");
  EXPECT_EQ(write(t, Format::kVtt, {}),
            "WEBVTT\n\n00:01:01.234 --> 00:01:03.500\n<v A&lt;b&gt;, \"c\">Say \"hi\"\n\n");
  EXPECT_EQ(write(t, Format::kCsv, {}),
            "start,end,speaker,text\n61234,63500,\"A<b>, \"\"c\"\"\",\"Say \"\"hi\"\"\"\n");
}

TEST(Writers, FirstIndexAndLongTimes) {
  Transcript t = one_segment();
  t.duration = 0;  // not known
  t.segments = {segment(0, 360000.5, "x")};
  WriterOptions options;
  options.first_index = 8;
  EXPECT_EQ(write(t, Format::kSrt, options), "8\n00:00:00,000 --> 100:00:00,500\nx\n\n");
  t.segments = {segment(3725.999, 3726, "x")};
  EXPECT_EQ(write(t, Format::kLrc, {}), "[by:sotto]\n[62:05.99]x\n");
}

TEST(Writers, OpenAiJson) {
  Transcript t = hello_bye();
  t.segments.pop_back();
  EXPECT_EQ(write(t, Format::kJson, {}),
            "{\"text\": \" Hello there.\", \"segments\": [{\"id\": 0, \"seek\": 0, \"start\": 0.0, "
            "\"end\": 1.4, \"text\": \" Hello there.\", \"tokens\": [2425, 456, 13], "
            "\"temperature\": 0.0, \"avg_logprob\": -0.21, \"compression_ratio\": 0.68, "
            "\"no_speech_prob\": 0.01, \"words\": [{\"word\": \" Hello\", \"start\": 0.0, \"end\": "
            "0.5, \"probability\": 0.9}, {\"word\": \" there.\", \"start\": 0.5, \"end\": 1.4, "
            "\"probability\": 0.5}]}], \"language\": \"en\"}\n");
}

TEST(Writers, OpenAiJsonIndented) {
  Transcript t;
  t.segments = {segment(0, 1, " \"\\\x01é")};
  t.segments[0].tokens = {{5, "", 0, 0, 0, 0}};
  WriterOptions options;
  options.pretty = true;
  EXPECT_EQ(write(t, Format::kJson, options), R"({
    "text": " \"\\\u0001é",
    "segments": [
        {
            "id": 0,
            "seek": 0,
            "start": 0.0,
            "end": 1.0,
            "text": " \"\\\u0001é",
            "tokens": [
                5
            ],
            "temperature": 0.0,
            "avg_logprob": 0.0,
            "compression_ratio": 0.0,
            "no_speech_prob": 0.0
        }
    ],
    "language": ""
}
)");
}

TEST(Writers, VerboseJson) {
  WriterOptions options;
  options.word_granularity = true;
  const std::string both = write(hello_bye(), Format::kVerboseJson, options);
  const std::string tail =
      R"("words":[{"word":"Hello","start":0.0,"end":0.5,"probability":0.9},)"
      R"({"word":"there.","start":0.5,"end":1.4,"probability":0.5},)"
      R"({"word":"Bye.","start":2.1,"end":3.0,"probability":1.0}],)"
      R"("usage":{"type":"duration","seconds":4},"language_code":"en","language_probability":0.998})";
  EXPECT_EQ(
      both,
      R"({"task":"transcribe","language":"english","duration":3.2,"text":"Hello there. Bye.",)"
      R"("segments":[{"id":0,"seek":0,"start":0.0,"end":1.4,"text":" Hello there.",)"
      R"("tokens":[2425,456,13],"temperature":0.0,"avg_logprob":-0.21,"compression_ratio":0.68,)"
      R"("no_speech_prob":0.01,"words":[{"word":" Hello","start":0.0,"end":0.5,"probability":0.9},)"
      R"({"word":" there.","start":0.5,"end":1.4,"probability":0.5}]},)"
      R"({"id":1,"seek":0,"start":2.1,"end":3.0,"text":" Bye.","tokens":[4621,13],)"
      R"("temperature":0.0,"avg_logprob":-0.21,"compression_ratio":0.68,"no_speech_prob":0.01,)"
      R"("words":[{"word":" Bye.","start":2.1,"end":3.0,"probability":1.0}]}],)" +
          tail + "\n");
  options.segment_granularity = false;
  EXPECT_EQ(
      write(hello_bye(), Format::kVerboseJson, options),
      R"({"task":"transcribe","language":"english","duration":3.2,"text":"Hello there. Bye.",)" +
          tail + "\n");
}

TEST(Writers, DroppedSpansAreReported) {
  Transcript t;
  t.duration = 9;
  t.dropped = {{1, 2.5, "no_speech", " Thanks."}};
  const std::string dropped =
      R"("dropped":[{"start":1.0,"end":2.5,"reason":"no_speech","text":" Thanks."}])";
  EXPECT_NE(write(t, Format::kVerboseJson, {}).find(dropped), std::string::npos);
}

WriterOptions cli_options() {
  WriterOptions options;
  options.model_type = "base";
  options.model_path = "models/ggml-base.bin";
  options.system_info = "AVX = 1";
  options.requested_language = "en";
  options.model_sizes = {51865, 1500, 512, 8, 6, 448, 512, 8, 6, 80, 1};
  return options;
}

// Layout as whisper-cli's -oj and -ojf write it.
TEST(Writers, CliJson) {
  EXPECT_EQ(write(one_segment(), Format::kJsonCli, cli_options()), R"({
	"systeminfo": "AVX = 1",
	"model": {
		"type": "base",
		"multilingual": true,
		"vocab": 51865,
		"audio": {
			"ctx": 1500,
			"state": 512,
			"head": 8,
			"layer": 6
		},
		"text": {
			"ctx": 448,
			"state": 512,
			"head": 8,
			"layer": 6
		},
		"mels": 80,
		"ftype": 1
	},
	"params": {
		"model": "models/ggml-base.bin",
		"language": "en",
		"translate": false
	},
	"result": {
		"language": "en"
	},
	"transcription": [
		{
			"timestamps": {
				"from": "00:01:01,234",
				"to": "00:01:03,500"
			},
			"offsets": {
				"from": 61234,
				"to": 63500
			},
			"text": " Say \"hi\""
		}
	]
}
)");
}

TEST(Writers, CliJsonWithTokens) {
  Transcript t = one_segment();
  t.segments[0].tokens = {{50364, "[_TT_0]", 61.234, 61.234, 0.5F, 0},
                          {7, "x", 61.3, 62, 0.0123456789F, 0}};
  const std::string text = write(t, Format::kJsonFull, cli_options());
  const std::string tail = R"(			"text": " Say \"hi\"",
			"tokens": [
				{
					"text": "[_BEG_]",
					"timestamps": {
						"from": "00:01:01,234",
						"to": "00:01:01,234"
					},
					"offsets": {
						"from": 61234,
						"to": 61234
					},
					"id": 50364,
					"p": 0.5,
					"t_dtw": -1
				},
				{
					"text": "x",
					"timestamps": {
						"from": "00:01:01,300",
						"to": "00:01:02,000"
					},
					"offsets": {
						"from": 61300,
						"to": 62000
					},
					"id": 7,
					"p": 0.0123457,
					"t_dtw": -1
				}
			]
		}
	]
}
)";
  EXPECT_TRUE(text.ends_with(tail)) << text;
  t.segments.clear();
  EXPECT_TRUE(
      write(t, Format::kJsonFull, cli_options()).ends_with("\t\"transcription\": [\n\t]\n}\n"));
}

TEST(Writers, FormatTimeRoundsToTheNearestMs) {
  EXPECT_EQ(format_time(61.234, ','), "00:01:01,234");
  EXPECT_EQ(format_time(0.0004, '.'), "00:00:00.000");
  EXPECT_EQ(format_time(0.0005, '.'), "00:00:00.001");
  EXPECT_EQ(format_time(59.9996, '.'), "00:01:00.000");
  EXPECT_EQ(format_time(3599.9999, '.'), "01:00:00.000");
  EXPECT_EQ(format_time(-1, '.'), "00:00:00.000");
  EXPECT_EQ(format_time(std::numeric_limits<double>::quiet_NaN(), '.'), "00:00:00.000");
  EXPECT_EQ(format_time(std::numeric_limits<double>::infinity(), '.'), "99999:00:00.000");
}

TEST(Writers, FormatNames) {
  for (const auto& [name, format] : {std::pair{"txt", Format::kTxt},
                                     {"TEXT", Format::kTxt},
                                     {"verbose_json", Format::kVerboseJson},
                                     {"json-full", Format::kJsonFull},
                                     {"json_cli", Format::kJsonCli}}) {
    const auto parsed = parse_format(name);
    ASSERT_TRUE(parsed.ok()) << name;
    EXPECT_EQ(*parsed, format);
  }
  const Status status = parse_format("docx").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("srt, vtt"), std::string::npos) << status.message();
  EXPECT_EQ(file_extension(Format::kSrt), "srt");
  EXPECT_EQ(file_extension(Format::kJsonFull), "json");
}

}  // namespace
}  // namespace sotto::transcript
