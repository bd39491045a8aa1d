/* All of libmillwright_text: language models from the files they come in, beside the core.
 *
 *     mw_tokenizer *tokenizer = mw_tokenizer_open("tokenizer.json", &err);
 *
 * Programs that include this link with libmillwright_text, which brings the core: find_package(millwright COMPONENTS
 * text), or pkg-config millwright_text.
 *
 * Threads: as the headers say. */
#ifndef MILLWRIGHT_TEXT_H
#define MILLWRIGHT_TEXT_H

#include <millwright/text_data.h>
#include <millwright/text_model.h>
#include <millwright/text_save.h>
#include <millwright/tokenizer.h>

#endif
