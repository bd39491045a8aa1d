/* All of libmillwright_learn: what a training may want besides, beside the core.
 *
 *     mw_tensor *loss = mw_info_nce(mw_dense(images, 64, "image"), mw_dense(texts, 64, "text"), 0.07f);
 *
 * Programs that include this link with libmillwright_learn, which brings the core: find_package(millwright COMPONENTS
 * learn), or pkg-config millwright_learn.
 *
 * Threads: as the headers say. */
#ifndef MILLWRIGHT_LEARN_H
#define MILLWRIGHT_LEARN_H

#include <millwright/loss_embedding.h>
#include <millwright/loss_focus.h>
#include <millwright/per_example.h>
#include <millwright/scores.h>

#endif
