/* SPDX-License-Identifier: Apache-2.0 */
/* Searches INDEX of index.js: all words must occur; titles count more than texts, and whole words more than parts. */
"use strict";
(function () {
    var box = document.getElementById("search"), list = document.getElementById("found"), up = document.body.dataset.up;

    function score(row, words) {
        var title = row[2].toLowerCase(), page = row[1].toLowerCase(), text = row[3].toLowerCase(), sum = 0;
        for (var i = 0; i < words.length; i++) {
            var word = words[i], one = 0;
            if (title === word) one = 100;
            else if (title.indexOf(word) === 0) one = 40;
            else if (title.indexOf(word) > 0) one = 25;
            else if (page.indexOf(word) >= 0) one = 10;
            if (text.indexOf(word) >= 0) one += 3;
            if (!one) return 0;
            sum += one;
        }
        return sum + (row[0].indexOf("guide/") === 0 || row[0].indexOf("recipes") === 0 ? 2 : 0);
    }

    function find(query) {
        var words = query.toLowerCase().split(/\s+/).filter(Boolean);
        if (!words.length) return [];
        return INDEX.map(function (row) { return [score(row, words), row]; })
            .filter(function (pair) { return pair[0] > 0; })
            .sort(function (a, b) { return b[0] - a[0]; }).slice(0, 20).map(function (pair) { return pair[1]; });
    }

    function show() {
        var rows = find(box.value);
        list.textContent = "";
        list.hidden = !box.value.trim();
        rows.forEach(function (row) {
            var item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
            link.href = up + row[0];
            link.textContent = row[2] === row[1] ? row[1] : row[1] + ": " + row[2];
            small.textContent = row[3].slice(0, 160);
            link.appendChild(small);
            item.appendChild(link);
            list.appendChild(item);
        });
        if (!rows.length && !list.hidden) {
            var none = document.createElement("li");
            none.textContent = "Nothing has all these words.";
            list.appendChild(none);
        }
    }

    box.addEventListener("input", show);
    document.addEventListener("keydown", function (event) {
        if (event.key === "/" && document.activeElement !== box) { box.focus(); event.preventDefault(); }
        if (event.key === "Escape") { box.value = ""; show(); box.blur(); }
        if (event.key === "Enter" && document.activeElement === box && list.querySelector("a")) list.querySelector("a").click();
        if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
            var links = Array.prototype.slice.call(list.querySelectorAll("a")), at = links.indexOf(document.activeElement);
            var next = links[at + (event.key === "ArrowDown" ? 1 : -1)];
            (next || box).focus();
            event.preventDefault();
        }
    });
    document.addEventListener("click", function (event) { if (!list.contains(event.target) && event.target !== box) list.hidden = true; });
    window.troupeFind = find; /* for tests */
})();
