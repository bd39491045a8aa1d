/* Texts as data sets: tokens and the tokens that follow, in windows or document by document.
 *
 *     mw_text_data_options options = mw_text_data_defaults();
 *     options.tokens = 256;
 *     mw_text_data *data = mw_text_data_open("notes.txt", "SmolLM2-135M", &options, &err);
 *     mw_fit_options fit = mw_fit_defaults(mw_text_data_training(data), 3);   // of a graph with loss (text_model.h)
 *     fit.data.validation = mw_text_data_validation(data);
 *     mw_trainer_fit(trainer, &fit, &err);
 *     mw_text_data_destroy(data);
 *
 * A text is made tokens once, into a file beside it, which is read from then on: neither text nor tokens have to fit
 * into memory. The file knows what it was made of. Where the text, the tokenizer or the template has changed, it is
 * made again.
 *
 * In libmillwright_text (<millwright/text.h>).
 *
 * Threads: the data sets of one may be used by loaders and trainers of several threads at the same time. */
#ifndef MILLWRIGHT_TEXT_DATA_H
#define MILLWRIGHT_TEXT_DATA_H

#include <millwright/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_text_data mw_text_data;

/** How texts become examples. Fill with mw_text_data_defaults. */
typedef struct mw_text_data_options {
    size_t struct_size;
    int64_t tokens;    /* of an example; default 128 */
    bool padded;       /* an example is a document, or a part of a longer one, filled up with labels of -100. Else
                        * documents stand one behind the other, and an example is the next window of them */
    bool buckets;      /* with padded: an example is filled up to 32 tokens, to 64, and so on, and at most to `tokens`,
                        * instead of all to `tokens`; a batch has examples of one length (mw_dataset_bucket). A trainer
                        * takes a graph of each (mw_text_data_info.buckets) in its variants */
    bool apart;        /* of a window: documents do not see each other. Column "starts" for a graph with the same option
                        * (text_model.h), and no label for what follows a document's last token. Not with padded */
    bool whole;        /* of conversations: all that is said is learned, not the answers alone */
    double validation; /* this share of the examples, those at the end, is for validation, in [0, 1); default 0.1 */
    const char *chat;  /* template of conversations: "chatml", "llama-2", "llama-3", "gemma", "mistral" or "zephyr".
                        * NULL = that of the folder, if it is one of these */
    const char *cache; /* file of the tokens; NULL = the path of the text and ".tokens" */
    int64_t words;     /* numbers of tokens are below it; 0 = vocab_size of the folder's config.json, or the tokenizer's
                        * count. Raw tokens have 16 bits if they fit, else 32 */
    int64_t multiple;  /* the training set has a multiple of so many examples, and leaves out the last: batch times
                        * accumulate of a trainer; default 1 */
} mw_text_data_options;
MW_API mw_text_data_options mw_text_data_defaults(void);

/** Opens texts for training.
 *  path    ".jsonl" or ".ndjson": each line an object with "text", or with "messages", an array of {"role", "content"};
 *          ".bin" or ".tokens": tokens, raw as nanoGPT and llama2.c write them, with the header of llm.c, or made here;
 *          any other: plain text, one document
 *  folder  of a model: its tokenizer, config.json and tokenizer_config.json; or a file of a tokenizer. NULL for a file
 *          of tokens
 *  return  owned by the caller; NULL with err set on failure
 *  errors  MW_ERROR_FILE; MW_ERROR_FORMAT for what is malformed, of JSON Lines with file and line; MW_ERROR_ARGUMENT
 *          for options out of range or without effect (a template without a conversation, a cache of what is tokens
 *          already, apart of one document), a text shorter than an example, a message with a special token in it;
 *          MW_ERROR_UNSUPPORTED for a template or a role that is not known, by name */
MW_API mw_text_data *mw_text_data_open(const char *path, const char *folder, const mw_text_data_options *options,
                                       mw_error *err);
/** Frees it; twice as mw_trainer_destroy. Loaders on its data sets must be gone. NULL is fine. */
MW_API void mw_text_data_destroy(mw_text_data *data);

/** Columns "tokens" and "labels", I32 [tokens], with buckets the tokens of the longest example: a label is the token
 *  that follows, or -100, which no loss counts. With apart also "starts": where in the window a token's document
 *  begins, 0 if before it. They belong to the object. A number of a token that the network has no word for is an
 *  error, which names it, before the step. NULL for NULL, and where the share for validation is 0 or there is one
 *  example. */
MW_API const mw_dataset *mw_text_data_training(const mw_text_data *data);
MW_API const mw_dataset *mw_text_data_validation(const mw_text_data *data);

/** What was found. Strings live as long as the object. */
typedef struct mw_text_data_info {
    uint64_t documents, tokens; /* documents: 0 where a file does not say */
    uint64_t text_bytes;        /* that the tokens were made of; 0 where a file does not say */
    int64_t examples, validation_examples;
    uint64_t training_tokens; /* of all examples for training, without what they are filled up with */
    const int64_t *buckets;   /* [bucket_count] tokens of a graph, from the fewest, of which there are examples; the
                               * last are those of a column. None without the option */
    size_t bucket_count;
    const char *chat;   /* the template, NULL = none was known or needed */
    const char *file;   /* that the tokens are read from */
    bool was_made;      /* by this call */
    double label_bytes; /* of text that a label of the validation set stands for, on average (of the training set where
                         * there is none); 0 without a tokenizer. A loss in nats a token, divided by it and by log 2,
                         * is bits a byte */
} mw_text_data_info;
/** Zeros for NULL. The first call reads the validation set. */
MW_API mw_text_data_info mw_text_data_get_info(mw_text_data *data);

/** Writes the tokens of texts as one file of raw numbers, 16 bits each if the vocabulary fits, else 32. It appears
 *  whole or not at all. Around each document stand the tokens that the tokenizer puts there, or else its end.
 *  paths    [count] texts, as mw_text_data_open takes them
 *  options  NULL = mw_text_data_defaults(); of these chat and words count
 *  out_info may be NULL; documents, tokens and text_bytes are set */
MW_API mw_status mw_text_data_write(const char *const *paths, size_t count, const char *folder, const char *out,
                                    const mw_text_data_options *options, mw_text_data_info *out_info, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
