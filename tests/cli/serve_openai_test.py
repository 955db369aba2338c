"""OpenAI's own Python client against `sotto serve`."""

import unittest

from serve_case import JFK, ServeTest, Server, clients, models, words

clients()
import openai  # noqa: E402


def client_of(server, key="anything"):
    return openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key=key, max_retries=0)


class OpenAi(ServeTest):
    def setUp(self):
        self.client = client_of(self.server)
        self.addCleanup(self.client.close)
        self.clip = open(models() / "jfk.wav", "rb")
        self.addCleanup(self.clip.close)

    def create(self, **options):
        return self.client.audio.transcriptions.create(file=self.clip, model="whisper-1", **options)

    def test_formats(self):
        self.assertEqual(words(self.create().text), JFK)
        for name in ("text", "srt", "vtt"):
            self.clip.seek(0)
            answer = self.create(response_format=name)
            self.assertEqual(words(answer).replace("webvtt ", ""), JFK)
        self.clip.seek(0)
        verbose = self.create(response_format="verbose_json", timestamp_granularities=["word", "segment"])
        self.assertEqual(verbose.duration, 11.0)
        self.assertEqual(words(" ".join(word.word for word in verbose.words)), JFK)
        self.assertEqual(words("".join(segment.text for segment in verbose.segments)), JFK)

    def test_stream_and_logprobs(self):
        events = list(self.create(stream=True, include=["logprobs"], chunking_strategy="auto"))
        self.assertEqual(events[-1].type, "transcript.text.done")
        self.assertEqual("".join(event.delta for event in events[:-1]), events[-1].text)
        self.assertEqual(words(events[-1].text), JFK)
        self.clip.seek(0)
        plain = self.create(include=["logprobs"])
        self.assertEqual([entry.token for entry in plain.logprobs],
                         [entry.token for entry in events[-1].logprobs])

    def test_models(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["tiny.en"])
        self.assertEqual(self.client.models.retrieve("tiny.en").object, "model")

    def test_errors(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.create(temperature=7)
        self.assertEqual((caught.exception.code, caught.exception.param), ("invalid_value", "temperature"))
        self.assertTrue(caught.exception.request_id)
        with self.assertRaises(openai.NotFoundError):
            self.client.audio.transcriptions.create(file=self.clip, model="nothing-like-it")
        with self.assertRaises(openai.BadRequestError):
            self.client.audio.translations.create(file=self.clip, model="whisper-1")

    def test_wrong_key(self):
        server = Server("--api-key", "right", "--no-preload")
        self.addCleanup(server.stop)
        with self.assertRaises(openai.AuthenticationError):
            client_of(server, "wrong").models.list()
        self.assertEqual(len(list(client_of(server, "right").models.list())), 1)


if __name__ == "__main__":
    unittest.main()
