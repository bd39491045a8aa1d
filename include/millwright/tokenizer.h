/* Texts as tokens and back, as the files of language models say.
 *
 *     mw_tokenizer *tokenizer = mw_tokenizer_open("SmolLM2-135M", &err);      // a folder, or one of its files
 *     mw_tokens tokens = {0};
 *     mw_tokenizer_encode(tokenizer, "Hello there", 11, NULL, &tokens, &err);
 *     for (size_t i = 0; i < tokens.count; i++)
 *         printf("%d\n", tokens.ids[i]);
 *     mw_tokens_destroy(&tokens);
 *     mw_tokenizer_destroy(tokenizer);
 *
 * Read are tokenizer.json (BPE by bytes or with byte fallback, WordPiece, Unigram), vocab.json with merges.txt,
 * vocab.txt of BERT, tokenizer.bin of llama2.c, and the vocabulary of a .gguf. Encoding takes time in proportion to the
 * text, whatever it is: of a word of n bytes without a place to cut n log n.
 *
 * In libmillwright_text (<millwright/text.h>).
 *
 * Threads: a tokenizer is only read once it is made, so that any number of threads may use it at a time. A stream
 * belongs to one thread at a time. */
#ifndef MILLWRIGHT_TOKENIZER_H
#define MILLWRIGHT_TOKENIZER_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_tokenizer mw_tokenizer;

/* ---- reading ---- */

/** Opens a file, or a folder that holds tokenizer.json, vocab.json and merges.txt, tokenizer.model, vocab.txt,
 *  tokenizer.bin or tokenizer.gguf: they are looked for in this order.
 *  return  owned by the caller; NULL with err set on failure
 *  errors  MW_ERROR_FILE if it cannot be read; MW_ERROR_FORMAT if it is malformed; MW_ERROR_UNSUPPORTED, by name, for
 *          a part that is not known, and for one that needs libutf8proc or libpcre2 in a library without them */
MW_API mw_tokenizer *mw_tokenizer_open(const char *path, mw_error *err);
/** Frees it; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_tokenizer_destroy(mw_tokenizer *tokenizer);

/** What a tokenizer is. */
typedef struct mw_tokenizer_info {
    const char *model; /* "BPE", "Unigram" or "WordPiece" */
    size_t count;      /* numbers of tokens are below it; some may have no token */
    size_t added;      /* tokens beside the model: special ones, and those added later */
} mw_tokenizer_info;

/** What it is; strings live as long as the tokenizer. */
MW_API mw_tokenizer_info mw_tokenizer_get_info(const mw_tokenizer *tokenizer);
/** The number of a token by its text as files spell it ("<s>", "Ġthe" by its bytes, " the"); -1 if none. */
MW_API int32_t mw_tokenizer_id(const mw_tokenizer *tokenizer, const char *text);
/** The bytes of a token, with a NUL behind them; NULL if there is none of that number. `size` may be NULL. Lives as
 *  long as the tokenizer. */
MW_API const char *mw_tokenizer_text(const mw_tokenizer *tokenizer, int32_t id, size_t *size);
/** Whether a token is a special one ("</s>"), which decoding leaves out. */
MW_API bool mw_tokenizer_is_special(const mw_tokenizer *tokenizer, int32_t id);

/* ---- to tokens ---- */

/** Tokens of a text. `mw_tokens t = {0}` is the empty list. */
typedef struct mw_tokens {
    int32_t *ids;  /* [count] */
    size_t *begin; /* [count], bytes of the text that a token stands for; begin == end of what was put around it. A
                    * token for a part of a character stands for all of it */
    size_t *end;   /* [count] */
    size_t count;
} mw_tokens;

/** Frees the lists and makes it the empty one. NULL is fine. */
MW_API void mw_tokens_destroy(mw_tokens *tokens);

/** How to encode. Fill with mw_encode_defaults. */
typedef struct mw_encode_options {
    size_t struct_size;
    bool no_special;      /* leave out what the tokenizer puts around a text, such as "<s>" */
    bool special_as_text; /* the text of a special token is text: for what users write. "</s>" then ends nothing */
} mw_encode_options;
/** Special tokens are put around a text, and found in it. */
MW_API mw_encode_options mw_encode_defaults(void);

/** Cuts a text into tokens.
 *  text     [size] bytes, below 4 GiB; bytes that are no UTF-8 are kept by tokenizers of bytes, and by others taken as
 *           characters that they do not know
 *  options  NULL = the defaults
 *  out      owned by the caller, mw_tokens_destroy; left empty on failure */
MW_API mw_status mw_tokenizer_encode(const mw_tokenizer *tokenizer, const char *text, size_t size,
                                     const mw_encode_options *options, mw_tokens *out, mw_error *err);

/* ---- to text ---- */

/** The text of tokens. It may hold part of a character if the tokens do.
 *  ids       a number without a token is an error, which names it
 *  out_size  bytes, without the NUL behind them; NULL = not asked
 *  return    freed with mw_string_free; NULL with err set on failure */
MW_API char *mw_tokenizer_decode(const mw_tokenizer *tokenizer, const int32_t *ids, size_t count, bool keep_special,
                                 size_t *out_size, mw_error *err);

/** Decoding token by token, never half a character. */
typedef struct mw_token_stream mw_token_stream;
/** The tokenizer must outlive it. */
MW_API mw_token_stream *mw_token_stream_create(const mw_tokenizer *tokenizer, mw_error *err);
MW_API void mw_token_stream_destroy(mw_token_stream *stream);
/** What the token adds to the text, NUL-terminated; "" while a character is incomplete. Lives until the next call.
 *  NULL with err set for a number without a token. */
MW_API const char *mw_token_stream_push(mw_token_stream *stream, int32_t id, mw_error *err);
/** What is left at the end: an incomplete character, as the bytes it has. The stream is then as if it were new. */
MW_API const char *mw_token_stream_finish(mw_token_stream *stream);

/* ---- learning one ---- */

/** What to learn. Fill with mw_tokenizer_train_defaults. */
typedef struct mw_tokenizer_train_options {
    size_t struct_size;
    size_t count;               /* the most tokens: special ones, 256 bytes, and what is learned; default 8000 */
    int64_t least;              /* how often two tokens must stand beside each other to become one; default 2 */
    const char *pattern;        /* where words end: "gpt2", "cl100k", "qwen2" or "o200k"; default gpt2 */
    const char *const *special; /* the first tokens; default "<|endoftext|>" */
    size_t special_count;
} mw_tokenizer_train_options;
MW_API mw_tokenizer_train_options mw_tokenizer_train_defaults(void);

/** Learns byte pairs from a text and writes them as tokenizer.json, whole or not at all. The two tokens that stand
 *  beside each other most often become one, of equally many those of the lower numbers; there are fewer tokens than
 *  asked for if no two come `least` times any more. The same text gives the same file everywhere.
 *  text     [size] bytes
 *  options  NULL = the defaults
 *  path     of the file, "tokenizer.json"
 *  errors   MW_ERROR_ARGUMENT for a number or name out of range; MW_ERROR_UNSUPPORTED if the different words of the
 *           text have 2^31 bytes; MW_ERROR_FILE if it cannot be written */
MW_API mw_status mw_tokenizer_train(const char *text, size_t size, const mw_tokenizer_train_options *options,
                                    const char *path, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
