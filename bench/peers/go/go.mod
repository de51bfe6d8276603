// SPDX-License-Identifier: Apache-2.0
module peerbench

go 1.19
