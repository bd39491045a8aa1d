/* Language models as files again: a folder of Hugging Face, GGUF or llama2.c, as they are or with what was trained.
 *
 *     mw_text_save_options options = mw_text_save_defaults();
 *     options.trained = "run/adapter";                                    // of mw_trainer_save_lora
 *     options.type = "Q8_0";
 *     mw_text_save("SmolLM2-135M", "notes.gguf", &options, &err);         // merged, for llama.cpp
 *
 * In libmillwright_text (<millwright/text.h>).
 *
 * Threads: any. */
#ifndef MILLWRIGHT_TEXT_SAVE_H
#define MILLWRIGHT_TEXT_SAVE_H

#include <millwright/text_model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How to save. Fill with mw_text_save_defaults. */
typedef struct mw_text_save_options {
    size_t struct_size;
    const char *type;    /* of the weights: "F32", "F16" or "BF16"; in GGUF also "Q8_0" and "Q4_0", of matrices. NULL =
                          * as the source has each of them, blocks expanded */
    const char *trained; /* weights that stand in place of the source's: a file of mw_trainer_save_weights, or a folder
                          * of adapters (mw_trainer_save_lora, PEFT), W + alpha / r B A. NULL = none */
    int version;         /* of llama2.c: 0 or 1 (floats), or 2 (bytes in groups of 64 at most); default 1 */
    int64_t cache;   /* of a Core ML package: the most tokens of a text, whose keys and values are its states; 0 = 1024,
                      * or the network's positions if those are fewer */
    bool check_only; /* nothing is written, and all is checked but what values of weights decide: what the form has
                      * a place for, and that something can be written there */
} mw_text_save_options;
MW_API mw_text_save_options mw_text_save_defaults(void);

/** Writes a model in the form that the path ends in: ".gguf" (with its vocabulary and the keys that llama.cpp asks
 *  for), ".bin" (llama2.c, weights alone), ".mlpackage" (Core ML's, weights alone), or else a folder. It appears whole
 *  or not at all, and stands in place of what was there: a folder with config.json or none at all is replaced, another
 *  one is refused.
 *  form     a folder has the names, types and shards of a source that is a folder, and copies of its configuration and
 *           tokenizer; of another source config.json, model.safetensors and tokenizer.json, or tokenizer.gguf for a
 *           vocabulary that has no other form; of an encoder modules.json as well. A package has a function of one
 *           token: inputs "tokens" I32 [1, 1] and "at" I32 [1], how many came before, states "key_0", "value_0" ..
 *           fp16 [1, kv_heads, cache, head_width], and "logits" [1, words]; "F16" keeps matrices so. For iOS 18
 *  source   as mw_text_model_open; may be `path`
 *  options  NULL = mw_text_save_defaults()
 *  errors   MW_ERROR_UNSUPPORTED, by name, for what the form has no place for: a window in llama2.c, a tokenizer that
 *           GGUF has no name for; MW_ERROR_ARGUMENT for a tensor of `trained` that belongs to no weight, or another
 *           type; those of mw_text_model_open, mw_tensors_write and mw_gguf_write */
MW_API mw_status mw_text_save(const char *source, const char *path, const mw_text_save_options *options, mw_error *err);

/* ---- trainers ---- */

/** Weights of any such source into a trainer on a graph of its configuration, also one with adapters. */
MW_API mw_status mw_text_load_weights(mw_trainer *trainer, const char *source, mw_error *err);
/** mw_text_save with the weights that a trainer has, adapters merged. They pass through a file or folder
 *  `path`.trained, which is removed.
 *  source   that mw_text_load_weights took
 *  options  as of mw_text_save, without `trained` */
MW_API mw_status mw_text_save_trained(mw_trainer *trainer, const char *source, const char *path,
                                      const mw_text_save_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
