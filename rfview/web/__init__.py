"""The screens in a browser, by textual-serve: a process of rfview for each open page.

    server     the page, its WebSocket, and who may open them
    page.html  the page; everything that it loads comes from the server
    focus.js   gives the terminal in it the keys
"""
